import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { encodeChunkHeader, encodeFrame, encodePreamble } from '#dist/core/framing/encode-frame.js';
import { FRAME, FRAME_TYPES, type FrameType } from '#dist/core/framing/frame.js';
import { decodeFrames } from '../../../support/feed-decoder.js';

const PLAIN_TYPES = (Object.keys(FRAME) as FrameType[]).filter((type) => type !== 'chunk');
const anyLength = () => 0xffff_ffff;
const bytes = (maxLength: number) => fc.uint8Array({ maxLength }).map((array) => Buffer.from(array));
const digests = fc.uint8Array({ minLength: 32, maxLength: 32 });
const u8 = fc.integer({ min: 0, max: 0xff });
const u16 = fc.integer({ min: 0, max: 0xffff });
const u32 = fc.integer({ min: 0, max: 0xffff_ffff });

describe('frames', () => {
  test('the preamble is the magic and the version, big-endian', () => {
    expect(encodePreamble().toString('hex')).toBe('d757697265420001');
    expect(encodePreamble(0x1234).toString('hex')).toBe('d757697265421234');
  });

  test('the first byte of the magic can begin neither text nor a TLS record', () => {
    const [first = 0] = encodePreamble();
    expect(first).toBeGreaterThan(0x7f);
    expect(first).not.toBe(0x16);
  });

  test('frame types keep their numbers', () => {
    expect(FRAME).toEqual({
      hello: 1,
      manifest: 2,
      ask: 3,
      digests: 4,
      get: 5,
      chunk: 6,
      end: 7,
      verdict: 8,
      error: 9,
      keepalive: 10,
    });
    expect([...FRAME_TYPES].map(([number, type]) => FRAME[type] === number)).not.toContain(false);
  });

  test('header fields stand where the protocol says', () => {
    const frame = encodeFrame('verdict', Buffer.from('{}'), 0x0102);
    expect(frame.toString('hex')).toBe('08000102000000027b7d');
    const chunk = encodeChunkHeader(3, 0x0102, 0x01020304, 0x0a0b0c0d, new Uint8Array(32).fill(0xee));
    expect(chunk.toString('hex')).toBe(`060301020a0b0c0d01020304${'ee'.repeat(32)}`);
  });

  test('what is encoded is decoded to the same', () => {
    fc.assert(
      fc.property(fc.constantFrom(...PLAIN_TYPES), bytes(300), u16, (type, content, entry) => {
        const stream = Buffer.concat([
          encodePreamble(),
          encodeFrame(type as Exclude<FrameType, 'chunk'>, content, entry),
        ]);
        expect(decodeFrames(stream, anyLength)).toEqual({ frames: [{ type, codec: 0, entry, content }] });
      }),
    );
  });

  test('a chunk is decoded to its fields, its digest and its payload', () => {
    fc.assert(
      fc.property(u8, u16, u32, bytes(300), digests, (codec, entry, index, payload, digest) => {
        const header = encodeChunkHeader(codec, entry, index, payload.length, digest);
        const { frames } = decodeFrames(Buffer.concat([encodePreamble(), header, payload]), anyLength);
        const [frame] = frames;
        expect(frame).toMatchObject({ type: 'chunk', codec, entry });
        expect(frame?.content.readUInt32BE(0)).toBe(index);
        expect(frame?.content.subarray(4)).toEqual(Buffer.concat([digest, payload]));
      }),
    );
  });

  test('a frame is a copy: its payload may change afterwards', () => {
    const payload = Buffer.from('abc');
    const frame = encodeFrame('hello', payload);
    payload.fill(0);
    expect(frame.subarray(8).toString()).toBe('abc');
  });
});
