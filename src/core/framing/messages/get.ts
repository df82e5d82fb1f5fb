import { WireBoundError } from '../../errors.js';
import { checkLength, dataView } from '../binary-fields.js';
import { PAYLOAD_LIMITS } from '../frame.js';

/** Why a client asks for chunks. */
export type GetReason = 'first' | 'lost' | 'mismatch' | 'codec' | 'protocol';
const GET_REASONS: readonly GetReason[] = ['first', 'lost', 'mismatch', 'codec', 'protocol'];

/** A request for `count` chunks from `first` on; `first` = the number of chunks asks for End alone. */
export interface Get {
  readonly first: number;
  readonly count: number;
  readonly reason: GetReason;
}

export function encodeGet(get: Get): Uint8Array {
  const content = Buffer.allocUnsafe(9);
  content.writeUInt32BE(get.first, 0);
  content.writeUInt32BE(get.count, 4);
  content.writeUInt8(GET_REASONS.indexOf(get.reason), 8);
  return content;
}

export function parseGet(content: Uint8Array, count: number): Get {
  checkLength(content, PAYLOAD_LIMITS.get, 'get');
  const view = dataView(content);
  const [first, length, reason] = [view.getUint32(0), view.getUint32(4), GET_REASONS[view.getUint8(8)]];
  if (first > count || length > count - first) {
    throw new WireBoundError('PROTOCOL', `get: ${length} chunks from ${first} on, the file has ${count}`);
  }
  if (reason === undefined) throw new WireBoundError('PROTOCOL', `get: unknown reason ${view.getUint8(8)}`);
  return { first, count: length, reason };
}
