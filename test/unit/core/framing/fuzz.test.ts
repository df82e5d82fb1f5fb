import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { WireBoundError } from '#dist/core/errors.js';
import { encodeChunkHeader, encodeFrame, encodePreamble } from '#dist/core/framing/encode-frame.js';
import { type FrameType, PAYLOAD_LIMITS } from '#dist/core/framing/frame.js';
import { type Frame, FrameDecoder } from '#dist/core/framing/frame-decoder.js';
import { encodeManifest, parseManifest } from '#dist/core/framing/manifest.js';
import {
  encodeDigests,
  encodeEnd,
  encodeError,
  encodeFrontier,
  encodeHello,
  parseDigests,
  parseEnd,
  parseError,
  parseHello,
} from '#dist/core/framing/messages.js';
import { feedDecoder } from '../../../support/feed-decoder.js';
import { HOSTILE_JSON } from '../../../support/hostile-json.js';

const RUNS = { numRuns: 10_000, seed: 0x57697265 };
const CODECS = ['lz4', 'deflate'];
const COUNT = 3;
const CHUNK_SIZE = 65_536;

const HELLO = encodeHello({ agent: 'wirebound/1', codecs: CODECS, run: '0f'.repeat(16) });
const MANIFEST = encodeManifest({
  entries: [
    { path: 'a.iso', size: 3 * CHUNK_SIZE - 1, mtimeMs: 1, executable: true, sha256: 'ab'.repeat(32) },
  ],
  chunkSize: CHUNK_SIZE,
  codecs: ['lz4'],
  transfer: '00',
});
const DIGESTS = encodeDigests(2, new Map([[1, new Uint8Array(32).fill(7)]]));

/** What can happen to the bytes of a stream on purpose. */
const damage = fc.oneof(
  fc.record({ kind: fc.constant('set' as const), at: fc.nat(), byte: fc.nat({ max: 255 }) }),
  fc.record({ kind: fc.constant('cut' as const), at: fc.nat(), length: fc.nat({ max: 40 }) }),
  fc.record({ kind: fc.constant('insert' as const), at: fc.nat(), bytes: fc.uint8Array({ maxLength: 40 }) }),
  fc.record({ kind: fc.constant('end' as const), at: fc.nat() }),
);
/** A JSON value in place of another one. */
const swap = fc.record({ at: fc.nat(), json: fc.constantFrom(...HOSTILE_JSON.map(([, json]) => json)) });
const cuts = fc.array(fc.nat({ max: 1000 }), { maxLength: 6 }).map((list) => list.sort((a, b) => a - b));

describe('fuzzed streams', () => {
  test('10,000 hellos end in a Hello or in a WireBoundError, with little memory', () => {
    const hello = fc.record({
      swaps: fc.array(swap, { maxLength: 2 }),
      damages: fc.array(damage, { maxLength: 3 }),
      cuts,
    });
    const ends = tally();
    fc.assert(
      fc.property(hello, ({ swaps, damages, cuts }) => {
        const content = swaps.reduce(applySwap, Buffer.from(HELLO));
        const stream = Buffer.concat([encodePreamble(), encodeFrame('hello', content)]);
        const limit = (type: FrameType) => (type === 'hello' ? PAYLOAD_LIMITS.hello : undefined);
        ends.add(
          read(damages.reduce(applyDamage, stream), cuts, limit, ({ content }) => void parseHello(content)),
        );
      }),
      RUNS,
    );
    expect(ends.seen).toEqual(['NOT_WIREBOUND', 'PROTOCOL', 'VERSION_MISMATCH', 'ok']);
  });

  test('10,000 server streams end in frames or in a WireBoundError, with little memory', () => {
    const frame = fc.oneof(
      fc.record({
        type: fc.constantFrom('manifest' as const, 'digests' as const, 'end' as const, 'error' as const),
        swaps: fc.array(swap, { maxLength: 2 }),
      }),
      fc.record({
        type: fc.constant('chunk' as const),
        header: fc.array(fc.nat(), { minLength: 4, maxLength: 4 }),
      }),
      fc.record({ type: fc.constant('keepalive' as const), swaps: fc.constant([]) }),
    );
    const stream = fc.record({
      frames: fc.array(frame, { maxLength: 5 }),
      damages: fc.array(damage, { maxLength: 3 }),
      cuts,
    });
    const ends = tally();
    fc.assert(
      fc.property(stream, ({ frames, damages, cuts }) => {
        const sent = Buffer.concat([encodePreamble(), ...frames.map((made) => serverFrame(made))]);
        ends.add(read(damages.reduce(applyDamage, sent), cuts, clientLimit, receiveAsClient));
      }),
      RUNS,
    );
    expect(ends.seen).toEqual(['NOT_WIREBOUND', 'PROTOCOL', 'VERSION_MISMATCH', 'ok']);
  });

  test('10,000 streams of noise behind a good preamble end in a WireBoundError or wait for more', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), cuts, (noise, cuts) => {
        read(Buffer.concat([encodePreamble(), noise]), cuts, clientLimit, receiveAsClient);
      }),
      RUNS,
    );
  });
});

type Damage = typeof damage extends fc.Arbitrary<infer T> ? T : never;
type Limit = (type: FrameType) => number | undefined;
type ServerFrame =
  | { readonly type: 'chunk'; readonly header: readonly number[] }
  | {
      readonly type: 'manifest' | 'digests' | 'end' | 'error' | 'keepalive';
      readonly swaps: readonly { at: number; json: string }[];
    };

/** Decodes and parses; returns how it ended. Anything but a WireBoundError, or memory beyond the limits, fails the test. */
function read(
  stream: Buffer,
  cuts: readonly number[],
  limit: Limit,
  receive: (frame: Frame) => void,
): string {
  const decoder = new FrameDecoder({
    limit,
    place: (header) => {
      expect(header.length).toBeLessThanOrEqual(limit(header.type) ?? -1);
      return undefined;
    },
    receive,
  });
  try {
    feedDecoder(decoder, stream, cuts);
    return 'ok';
  } catch (error) {
    if (!(error instanceof WireBoundError)) throw error;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there
    expect(error.message).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
    expect(error.message.length).toBeLessThan(300);
    return error.code;
  }
}

function clientLimit(type: FrameType): number | undefined {
  if (type === 'chunk') return CHUNK_SIZE;
  return type === 'hello' || type === 'ask' || type === 'get' || type === 'verdict'
    ? undefined
    : PAYLOAD_LIMITS[type];
}

function receiveAsClient({ header, content }: Frame): void {
  if (header.type === 'manifest') parseManifest(content, CODECS);
  else if (header.type === 'digests') parseDigests(content, COUNT);
  else if (header.type === 'error') parseError(content);
  else if (header.type === 'end') parseEnd(content);
  else expect(['chunk', 'keepalive']).toContain(header.type);
}

function serverFrame(made: ServerFrame): Buffer {
  if (made.type === 'chunk') {
    const [codec = 0, entry = 0, index = 0, length = 0] = made.header;
    const claimed = length % (2 * CHUNK_SIZE);
    const header = encodeChunkHeader(codec & 0xff, entry & 0xffff, index >>> 0, claimed, new Uint8Array(32));
    return Buffer.concat([header, Buffer.alloc(Math.min(claimed, 100))]);
  }
  const contents: Record<typeof made.type, Uint8Array> = {
    manifest: MANIFEST,
    digests: DIGESTS,
    end: encodeEnd({ sourceMs: 1, digestMs: 2, codecMs: 0, rateMs: 0, networkMs: 30 }),
    error: encodeError({ code: 'BUSY', message: 'full house' }),
    keepalive: encodeFrontier(1),
  };
  const isJson = made.type === 'manifest' || made.type === 'error';
  const content = Buffer.from(contents[made.type]);
  return encodeFrame(made.type, isJson ? made.swaps.reduce(applySwap, content) : content);
}

/** Puts another value where one of the JSON values of `content` stands. */
function applySwap(content: Buffer, { at, json }: { readonly at: number; readonly json: string }): Buffer {
  const text = content.toString();
  const values = [...text.matchAll(/"[^"]*"(?!:)|\d+|true|false/g)];
  const value = values[at % Math.max(1, values.length)];
  if (value === undefined) return content;
  return Buffer.from(text.slice(0, value.index) + json + text.slice(value.index + value[0].length));
}

function applyDamage(stream: Buffer, made: Damage): Buffer {
  const at = stream.length === 0 ? 0 : made.at % stream.length;
  const [before, after] = [stream.subarray(0, at), stream.subarray(at)];
  if (made.kind === 'end') return before;
  if (made.kind === 'insert') return Buffer.concat([before, made.bytes, after]);
  if (made.kind === 'cut') return Buffer.concat([before, after.subarray(made.length)]);
  return Buffer.concat([before, Buffer.of(made.byte), after.subarray(1)]);
}

/** The different ways in which streams have ended: a fuzzer that only ever finds one of them finds nothing. */
function tally(): { add(end: string): void; readonly seen: readonly string[] } {
  const ends = new Set<string>();
  return {
    add: (end) => void ends.add(end),
    get seen() {
      return [...ends].sort();
    },
  };
}
