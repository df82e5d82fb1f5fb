import { WireBoundError } from '../../errors.js';
import { checkIndex, dataView } from '../binary-fields.js';
import { DIGEST_LENGTH } from '../frame.js';

/** The prefix digests that were known when an Ask arrived. */
export interface Digests {
  readonly frontier: number;
  readonly digests: ReadonlyMap<number, Uint8Array>;
}

export function encodeDigests(frontier: number, digests: ReadonlyMap<number, Uint8Array>): Uint8Array {
  const record = 4 + DIGEST_LENGTH;
  const content = Buffer.allocUnsafe(4 + record * digests.size);
  let at = content.writeUInt32BE(frontier, 0);
  for (const [index, digest] of digests) {
    content.writeUInt32BE(index, at);
    content.set(digest, at + 4);
    at += record;
  }
  return content;
}

export function parseDigests(content: Uint8Array, count: number): Digests {
  const record = 4 + DIGEST_LENGTH;
  if (content.length < 4 || (content.length - 4) % record !== 0) {
    throw new WireBoundError('PROTOCOL', `digests: ${content.length} bytes are not a list of digests`);
  }
  const view = dataView(content);
  const frontier = view.getUint32(0);
  if (frontier > count)
    throw new WireBoundError('PROTOCOL', `digests: frontier ${frontier} of ${count} chunks`);
  const digests = new Map<number, Uint8Array>();
  for (let at = 4; at < content.length; at += record) {
    const index = checkIndex(view.getUint32(at), count, 'digests');
    if (index >= frontier) {
      throw new WireBoundError('PROTOCOL', `digests: chunk ${index} lies beyond the frontier ${frontier}`);
    }
    digests.set(index, Uint8Array.from(content.subarray(at + 4, at + record)));
  }
  return { frontier, digests };
}
