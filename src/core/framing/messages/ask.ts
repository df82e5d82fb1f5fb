import { WireBoundError } from '../../errors.js';
import { checkIndex, dataView } from '../binary-fields.js';
import { MAX_ASK } from '../frame.js';

export function encodeAsk(indexes: readonly number[]): Uint8Array {
  const content = Buffer.allocUnsafe(4 * indexes.length);
  indexes.forEach((index, at) => {
    content.writeUInt32BE(index, 4 * at);
  });
  return content;
}

/** The chunk indexes asked about; `count` is how many chunks the file has. */
export function parseAsk(content: Uint8Array, count: number): readonly number[] {
  const view = dataView(content);
  if (content.length === 0 || content.length % 4 !== 0 || content.length / 4 > MAX_ASK) {
    throw new WireBoundError(
      'PROTOCOL',
      `ask: ${content.length} bytes are not 1 to ${MAX_ASK} chunk indexes`,
    );
  }
  return Array.from({ length: content.length / 4 }, (_, at) =>
    checkIndex(view.getUint32(4 * at), count, 'ask'),
  );
}
