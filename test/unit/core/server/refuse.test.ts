import { describe, expect, test } from '@jest/globals';
import { WireBoundError } from '#dist/core/errors.js';
import { PAYLOAD_LIMITS } from '#dist/core/framing/frame.js';
import { parseError } from '#dist/core/framing/messages.js';
import { refusal } from '#dist/core/server/refuse.js';
import { decodeFrames } from '../../../support/feed-decoder.js';

const command = 'wirebound get 10.0.0.1:6767';
const stranger = new WireBoundError('NOT_WIREBOUND', 'not one of us');
const busy = new WireBoundError('BUSY', 'the server already serves 3 clients, as many as it may');
const limit = (type: string) => (type === 'error' ? PAYLOAD_LIMITS.error : undefined);

describe('refusal', () => {
  test.each(['GET / HTTP/1.1\r\n', 'HEAD ', 'POST', 'P'])(
    'what begins with %j gets a valid HTTP 400',
    (first) => {
      const answer = refuse(stranger, first);
      const [head = '', body] = answer.split('\r\n\r\n');
      const [status, ...lines] = head.split('\r\n');
      const headers = new Map(lines.map((line) => line.split(': ') as [string, string]));
      expect(status).toBe('HTTP/1.1 400 Bad Request');
      expect(headers.get('Content-Length')).toBe(String(Buffer.byteLength(body ?? '')));
      expect(headers.get('Connection')).toBe('close');
      expect(headers.get('Content-Type')).toBe('text/plain');
      expect(body).toBe(`This is a WireBound server. Get the file with: ${command}\n`);
    },
  );

  test.each(['\x16\x03\x01', '\r\n', 'get', '\xd7\x00', ''])(
    'what begins with %j gets one line of text',
    (first) => {
      expect(refuse(stranger, first)).toBe(`This is a WireBound server. Get the file with: ${command}\n`);
    },
  );

  test('a client that has had no preamble gets one in front of its Error', () => {
    const bytes = refusal(busy, { firstBytes: new Uint8Array(0), greeted: false, command });
    const [frame, ...rest] = decodeFrames(bytes, limit).frames;
    expect(rest).toEqual([]);
    expect(parseError(frame?.content ?? Buffer.alloc(0))).toEqual({ code: 'BUSY', message: busy.message });
  });

  test('a client that has had the preamble gets the Error frame alone', () => {
    const bytes = refusal(busy, { firstBytes: new Uint8Array(0), greeted: true, command });
    const whole = refusal(busy, { firstBytes: new Uint8Array(0), greeted: false, command });
    expect(Buffer.from(bytes)).toEqual(Buffer.from(whole.subarray(8)));
  });

  test('a client of another version gets a preamble and an Error: those never change', () => {
    const error = new WireBoundError('VERSION_MISMATCH', 'the other side speaks protocol version 2');
    const bytes = refusal(error, {
      firstBytes: Buffer.from('d757697265420002', 'hex'),
      greeted: false,
      command,
    });
    expect(parseError(decodeFrames(bytes, limit).frames[0]?.content ?? Buffer.alloc(0)).code).toBe(
      'VERSION_MISMATCH',
    );
  });
});

function refuse(error: WireBoundError, first: string): string {
  const bytes = refusal(error, { firstBytes: Buffer.from(first, 'latin1'), greeted: false, command });
  return Buffer.from(bytes).toString();
}
