import type { WireBoundError } from '../errors.js';
import { encodeFrame, encodePreamble } from '../framing/encode-frame.js';
import { encodeError } from '../framing/messages.js';

/**
 * The last bytes for a client that is turned away. `firstBytes` are what it began with: a browser or a health
 * check gets a valid HTTP answer, another program a line of text, a WireBound client an Error frame
 * (after the preamble, unless it has had that).
 */
export function refusal(
  error: WireBoundError,
  options: { readonly firstBytes: Uint8Array; readonly greeted: boolean; readonly command: string },
): Uint8Array {
  if (error.code !== 'NOT_WIREBOUND') {
    const frame = encodeFrame('error', encodeError(error));
    return options.greeted ? frame : Buffer.concat([encodePreamble(), frame]);
  }
  const text = `This is a WireBound server. Get the file with: ${options.command}\n`;
  if (!/^[A-Z]/.test(String.fromCharCode(options.firstBytes[0] ?? 0))) return Buffer.from(text);
  const head = ['HTTP/1.1 400 Bad Request', 'Content-Type: text/plain', `Content-Length: ${text.length}`];
  return Buffer.from([...head, 'Connection: close', '', text].join('\r\n'));
}
