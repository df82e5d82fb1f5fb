import { checkLength, clampU32, dataView } from '../binary-fields.js';
import { PAYLOAD_LIMITS } from '../frame.js';

/** What a server has been waiting for while it answered a Get, milliseconds; End carries it. */
export interface ServerWaits {
  readonly sourceMs: number;
  readonly digestMs: number;
  readonly codecMs: number;
  /** For its own rate limit. */
  readonly rateMs: number;
  /** For the network and the client behind it. */
  readonly networkMs: number;
}

const WAITS = ['sourceMs', 'digestMs', 'codecMs', 'rateMs', 'networkMs'] as const;

export function encodeEnd(waits: ServerWaits): Uint8Array {
  const content = Buffer.allocUnsafe(PAYLOAD_LIMITS.end);
  WAITS.forEach((name, at) => {
    content.writeUInt32BE(clampU32(waits[name]), 4 * at);
  });
  return content;
}

export function parseEnd(content: Uint8Array): ServerWaits {
  checkLength(content, PAYLOAD_LIMITS.end, 'end');
  const view = dataView(content);
  const [sourceMs = 0, digestMs = 0, codecMs = 0, rateMs = 0, networkMs = 0] = WAITS.map((_, at) =>
    view.getUint32(4 * at),
  );
  return { sourceMs, digestMs, codecMs, rateMs, networkMs };
}
