import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { encodeChunkHeader, encodeFrame, encodePreamble } from '#dist/core/framing/encode-frame.js';
import { contentLength, type FrameType, MAGIC } from '#dist/core/framing/frame.js';
import { type Frame, FrameDecoder } from '#dist/core/framing/frame-decoder.js';
import { decodeFrames, feedDecoder } from '../../../support/feed-decoder.js';
import { decodeNaively } from '../../../support/naive-decoder.js';

const DIGEST = new Uint8Array(32).fill(0xdd);
const LIMIT = 600;
const limit = (type: FrameType) => (type === 'get' ? undefined : LIMIT);

/** A stream with frames of every shape: empty, tiny, chunks, chunks without payload. */
const STREAM = Buffer.concat([
  encodePreamble(),
  encodeFrame('manifest', Buffer.alloc(100, 1)),
  encodeFrame('end', Buffer.alloc(0)),
  encodeFrame('end', Buffer.alloc(0), 9),
  chunk(0, 200),
  chunk(1, 0),
  encodeFrame('keepalive', Buffer.alloc(4)),
  chunk(2, 1),
  encodeFrame('digests', Buffer.alloc(7, 2)),
]);

describe('FrameDecoder', () => {
  test('a stream cut anywhere gives the same frames as one in a single piece', () => {
    const whole = decodeNaively(STREAM, limit);
    expect(whole.frames.length).toBe(8);
    for (let cut = 0; cut <= STREAM.length; cut++) {
      expect(decodeFrames(STREAM, limit, [cut])).toEqual(whole);
    }
    const everyByte = Array.from(STREAM.keys());
    expect(decodeFrames(STREAM, limit, everyByte)).toEqual(whole);
  });

  test('a stream that ends anywhere gives the frames that are whole, and no error', () => {
    for (let end = 0; end <= STREAM.length; end++) {
      const part = STREAM.subarray(0, end);
      expect(decodeFrames(part, limit)).toEqual(decodeNaively(part, limit));
    }
  });

  test('any frames, damaged or not, cut at random places, come out as the naive twin has them', () => {
    const frame = fc.record({
      type: fc.integer({ min: 0, max: 12 }),
      length: fc.oneof(fc.integer({ min: 0, max: 80 }), fc.constantFrom(LIMIT, LIMIT + 1, 0xffff_ffff)),
      rest: fc.uint8Array({ maxLength: LIMIT + 36 }),
      exact: fc.boolean(),
    });
    fc.assert(
      fc.property(
        fc.array(frame, { maxLength: 8 }),
        fc.array(fc.nat({ max: 4000 }), { maxLength: 12 }),
        fc.option(fc.tuple(fc.nat({ max: 4000 }), fc.integer({ min: 1, max: 255 })), { freq: 2 }),
        (frames, cuts, damage) => {
          const stream = Buffer.concat([encodePreamble(), ...frames.map(toBytes)]);
          if (damage !== null && damage[0] < stream.length) {
            stream.writeUInt8(stream.readUInt8(damage[0]) ^ damage[1], damage[0]);
          }
          const sorted = cuts.sort((a, b) => a - b);
          expect(decodeFrames(stream, limit, sorted)).toEqual(decodeNaively(stream, limit));
        },
      ),
      { numRuns: 1000 },
    );
  });

  test('a frame is delivered with its last byte, without waiting for the next header', () => {
    const received: string[] = [];
    const decoder = new FrameDecoder({ limit, receive: ({ header }) => void received.push(header.type) });
    feedDecoder(decoder, encodePreamble());
    for (const bytes of [chunk(0, 100), encodeFrame('end', Buffer.alloc(0)), chunk(1, 0)]) {
      feedDecoder(decoder, bytes.subarray(0, -1));
      const before = received.length;
      feedDecoder(decoder, bytes.subarray(-1));
      expect(received.length).toBe(before + 1);
      expect(decoder.betweenFrames).toBe(true);
    }
  });

  test('it knows whether it stands between two frames', () => {
    const decoder = new FrameDecoder({ limit, receive: () => undefined });
    const states: boolean[] = [];
    const frame = encodeFrame('error', Buffer.from('ab'));
    for (const byte of [...encodePreamble(), ...frame, ...encodeFrame('end', Buffer.alloc(0))]) {
      feedDecoder(decoder, Uint8Array.of(byte));
      states.push(decoder.betweenFrames);
    }
    const between = states.flatMap((state, at) => (state ? [at + 1] : []));
    expect(between).toEqual([8, 8 + frame.length, 8 + frame.length + 8]);
    expect(decoder.greeted).toBe(true);
  });

  test('the target is never empty and never reaches past the next header', () => {
    for (const step of [1, 7, 8, 9, 1000]) {
      const frames = decodeNaively(STREAM, limit).frames;
      const ends = frameEnds(frames.map(({ content }) => content.length));
      const decoder = new FrameDecoder({ limit, receive: () => undefined });
      for (let at = 0; at < STREAM.length; ) {
        const room = decoder.target.length;
        const nextHeaderEnd = (ends.find((end) => end > at) ?? STREAM.length) + 8;
        expect(room).toBeGreaterThan(0);
        expect(at + room).toBeLessThanOrEqual(nextHeaderEnd);
        const end = Math.min(STREAM.length, at + Math.min(step, room));
        feedDecoder(decoder, STREAM.subarray(at, end));
        at = end;
      }
    }
  });

  test('memory that is given is used in place, to its last byte and not beyond', () => {
    const placed: { memory: Uint8Array; length: number }[] = [];
    const GUARD = 0x5a;
    const place = (header: Frame['header']) => {
      const length = contentLength(header);
      const memory = new Uint8Array(length + 8 + 64).fill(GUARD);
      placed.push({ memory, length });
      return memory.subarray(16);
    };
    const contents: Uint8Array[] = [];
    for (const cuts of [[], Array.from(STREAM.keys())]) {
      const decoder = new FrameDecoder({
        limit,
        place,
        receive: ({ content }) => void contents.push(content),
      });
      feedDecoder(decoder, STREAM, cuts);
    }
    const delivered = contents.filter((content) => content.length > 0);
    expect(placed.length).toBe(delivered.length);
    placed.forEach(({ memory, length }, at) => {
      expect(delivered[at]?.buffer).toBe(memory.buffer);
      expect(delivered[at]?.length).toBe(length);
      expect(memory.subarray(0, 16).every((byte) => byte === GUARD)).toBe(true);
      expect(memory.subarray(16 + length + 8).every((byte) => byte === GUARD)).toBe(true);
    });
  });

  test('memory too small for the content and the next header is an error, not a lost byte', () => {
    const place = () => new Uint8Array(7);
    const stream = Buffer.concat([encodePreamble(), encodeFrame('error', Buffer.alloc(10))]);
    expect(decodeFrames(stream, limit, [], place)).toEqual({ frames: [], error: 'INTERNAL' });
  });

  test('a frame belongs to its receiver: the bytes that follow do not reach into it', () => {
    const shared = new Uint8Array(LIMIT + 44);
    const contents: Buffer[] = [];
    const decoder = new FrameDecoder({
      limit,
      place: () => shared,
      receive: ({ content }) => {
        contents.push(Buffer.from(content));
        shared.fill(0xff); // the receiver may use its memory for anything from now on
      },
    });
    feedDecoder(decoder, STREAM);
    expect(contents).toEqual(decodeNaively(STREAM, limit).frames.map(({ content }) => content));
  });

  test('a wrong magic is refused at the first byte that differs, however it is cut', () => {
    for (let at = 0; at < MAGIC.length; at++) {
      const bytes = Uint8Array.from(MAGIC);
      bytes[at] = (bytes[at] as number) ^ 1;
      const decoder = new FrameDecoder({ limit, receive: () => undefined });
      feedDecoder(decoder, bytes.subarray(0, at), Array.from(bytes.keys()));
      expect(() => feedDecoder(decoder, bytes.subarray(at, at + 1))).toThrow(
        expect.objectContaining({ code: 'NOT_WIREBOUND' }),
      );
      expect(decodeFrames(bytes, limit)).toEqual({ frames: [], error: 'NOT_WIREBOUND' });
    }
  });

  test.each([
    ['a browser', 'GET / HTTP/1.1\r\n\r\n'],
    ['a TLS client', '\x16\x03\x01\x02\x00'],
    ['an SSH server', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['the original WireBound', '\0\0\0\x04\0\0\0\0'],
  ])('%s is recognised as a stranger', (_, greeting) => {
    expect(decodeFrames(Buffer.from(greeting, 'latin1'), limit).error).toBe('NOT_WIREBOUND');
  });

  test.each([0, 2, 255, 256, 65_535])('version %i is refused before any frame is looked at', (version) => {
    const stream = Buffer.concat([encodePreamble(version), Buffer.alloc(100, 0xff)]);
    const decoder = new FrameDecoder({ limit, receive: () => undefined });
    expect(() => feedDecoder(decoder, stream)).toThrow(
      expect.objectContaining({
        code: 'VERSION_MISMATCH',
        message: `the other side speaks protocol version ${version}, this program speaks version 1`,
      }),
    );
  });

  test.each([0, 11, 127, 255])('frame type %i is unknown', (type) => {
    const decoder = new FrameDecoder({ limit, receive: () => undefined });
    const bytes = Buffer.concat([encodePreamble(), Buffer.of(type, 0, 0, 0, 0, 0, 0, 0)]);
    expect(() => feedDecoder(decoder, bytes)).toThrow(`unknown frame type ${type}`);
  });

  test('a type that is not allowed now is refused with its name, empty or not', () => {
    for (const payload of [Buffer.alloc(0), Buffer.alloc(9)]) {
      const decoder = new FrameDecoder({ limit, receive: () => undefined });
      const bytes = Buffer.concat([encodePreamble(), encodeFrame('get', payload)]);
      expect(() => feedDecoder(decoder, bytes)).toThrow('a frame of type get is not allowed here');
    }
  });

  test.each([LIMIT + 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff])(
    'a length of %i is refused with its header, before any memory is asked for',
    (length) => {
      for (const type of ['error', 'chunk'] as const) {
        let asked = 0;
        const place = () => {
          asked++;
          return undefined;
        };
        const decoder = new FrameDecoder({ limit, place, receive: () => undefined });
        const header = encodeChunkHeader(0, 0, 0, length, DIGEST).subarray(0, 8);
        if (type === 'error') header[0] = 9;
        feedDecoder(decoder, Buffer.concat([encodePreamble(), header.subarray(0, 7)]));
        expect(() => feedDecoder(decoder, header.subarray(7))).toThrow(
          `a frame of type ${type} announces ${length} bytes, the limit is ${LIMIT}`,
        );
        expect(asked).toBe(0);
      }
    },
  );

  test('what a receiver throws comes out of accept', () => {
    const decoder = new FrameDecoder({
      limit,
      receive: () => {
        throw new Error('no room');
      },
    });
    expect(() => feedDecoder(decoder, STREAM)).toThrow('no room');
  });
});

function chunk(index: number, length: number): Buffer {
  return Buffer.concat([encodeChunkHeader(0, 0, index, length, DIGEST), Buffer.alloc(length, 0x40 + index)]);
}

function toBytes(frame: { type: number; length: number; rest: Uint8Array; exact: boolean }): Buffer {
  const header = Buffer.alloc(8);
  header.writeUInt8(frame.type, 0);
  header.writeUInt32BE(frame.length, 4);
  const needed = frame.length + (frame.type === 6 ? 36 : 0);
  if (!frame.exact || frame.length > LIMIT) return Buffer.concat([header, frame.rest]);
  return Buffer.concat([header, Buffer.alloc(needed, frame.type)]);
}

function frameEnds(lengths: readonly number[]): number[] {
  let at = 0;
  return [8, ...lengths.map((length) => length + 8)].map((length) => {
    at += length;
    return at;
  });
}
