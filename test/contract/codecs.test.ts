import { deflateRawSync, constants as zlib } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { deflateSync, inflateSync } from 'fflate';
import type { Codec } from '#dist/core/codec/codec.js';
import { decodePayload } from '#dist/core/codec/decode-payload.js';
import { encodeChunk } from '#dist/core/codec/encode-chunk.js';
import deflatePlugin from '#dist/plugins/codecs/deflate.js';
import lz4Plugin from '#dist/plugins/codecs/lz4.js';
import nonePlugin from '#dist/plugins/codecs/none.js';
import { codecContract } from '#dist/testing/codec-contract.js';
import { randomBytes, textBytes } from '#dist/testing/codec-samples.js';
import { peakMemory } from '#dist/testing/peak-memory.js';

const MIB = 1024 * 1024;
const [none, lz4, deflate] = [nonePlugin, lz4Plugin, deflatePlugin].flatMap(({ codecs }) => codecs) as [
  Codec,
  Codec,
  Codec,
];

for (const codec of [none, lz4, deflate]) {
  describe(`${codec.name} keeps the codec contract`, () => {
    for (const { title, run } of codecContract(codec)) test(title, run);
  });
}

describe.each([lz4, deflate])('$name', (codec) => {
  test('any bytes come back as they were', async () => {
    const bytes = fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 4096, size: 'max' }),
      fc.array(fc.constantFrom(...'ab \n'), { minLength: 1, maxLength: 4096, size: 'max' }).map((letters) => {
        return Uint8Array.from(Buffer.from(letters.join('')));
      }),
    );
    await fc.assert(
      fc.asyncProperty(bytes, async (chunk) => {
        const payload = await codec.encode(chunk);
        expect(Buffer.compare(await codec.decode(payload, chunk.length), chunk)).toBe(0);
      }),
    );
  });

  test('20,000 damaged payloads are refused, or give bytes of the right length', async () => {
    const rawLength = 2048;
    const payload = await codec.encode(textBytes(rawLength));
    const noise = new Uint32Array(randomBytes(20_000 * 8, 7).buffer);
    let refused = 0;
    for (let index = 0; index < noise.length; index += 2) {
      const [place, value] = noise.subarray(index, index + 2) as unknown as [number, number];
      // Half of the payloads are cut as well.
      const bad = payload.slice(0, value & 1 ? payload.length : 1 + (value % payload.length));
      const bit = 1 << ((value >>> 8) & 7);
      bad[place % bad.length] = (bad[place % bad.length] as number) ^ bit;
      try {
        expect((await codec.decode(bad, rawLength)).length).toBe(rawLength);
      } catch {
        refused++;
      }
    }
    expect(refused).toBeGreaterThan(10_000);
  });

  test('log text shrinks to less than a quarter, random bytes go raw', async () => {
    const text = await encodeChunk(codec, textBytes(256 * 1024));
    expect(text.encoded && text.bytes.length).toBeLessThan(64 * 1024);
    expect(await encodeChunk(codec, randomBytes(256 * 1024, 1))).toEqual({ encoded: false });
  });
});

describe('none', () => {
  test('never encodes, so that its chunks go raw', async () => {
    expect(await encodeChunk(none, textBytes(64 * 1024))).toEqual({ encoded: false });
  });
});

describe('lz4', () => {
  test('a payload is a raw LZ4 block with no length in front', async () => {
    // Token 0x10: one literal, no match; then the literal.
    expect([...(await lz4.decode(Uint8Array.of(0x10, 0x07), 1))]).toEqual([0x07]);
    expect([...(await lz4.encode(Uint8Array.of(0x07)))]).toEqual([0x10, 0x07]);
  });

  test('blocks are those of an independent decoder', async () => {
    for (const chunk of [textBytes(70_000), randomBytes(5000, 3), new Uint8Array(64 * 1024)]) {
      const decoded = decodeLz4Block(await lz4.encode(chunk));
      expect(Buffer.compare(decoded, chunk)).toBe(0);
    }
  });

  test('any block that keeps the format is decoded: literals, matches near and far, long and short', () => {
    const sequence = fc.record({
      literals: fc.uint8Array({ minLength: 0, maxLength: 300 }),
      distance: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 65_535 })),
      matchLength: fc.oneof(fc.integer({ min: 4, max: 40 }), fc.integer({ min: 4, max: 1000 })),
    });
    const property = fc.property(fc.array(sequence, { maxLength: 30 }), (sequences) => {
      const block = encodeSequences([{ ...sequences[0], literals: Uint8Array.of(1) }, ...sequences]);
      const chunk = decodeLz4Block(block);
      expect(Buffer.compare(lz4.decode(block, chunk.length) as Uint8Array, chunk)).toBe(0);
      for (const wrong of [chunk.length - 1, chunk.length + 1]) {
        if (wrong > 0) expect(() => lz4.decode(block, wrong)).toThrow('the payload');
      }
    });
    fc.assert(property, { numRuns: 3000 });
  });

  test.each([
    ['nothing', [], 1],
    ['a literal that is missing', [0x10], 1],
    ['a length that does not end', [0xf0, 255], 300],
    ['more literals than there is room for', [0x20, 1, 2], 1],
    ['half a distance', [0x10, 7, 1], 6],
    ['a distance of 0', [0x10, 7, 0, 0, 0x10, 7], 6],
    ['a distance that reaches in front of the chunk', [0x10, 7, 2, 0, 0x10, 7], 6],
    ['a match longer than the room', [0x1f, 7, 1, 0, 255, 255, 0, 0x10, 7], 20],
    ['a match at the end', [0x10, 7, 1, 0], 5],
  ])('%s is refused', (_, block, rawLength) => {
    expect(() => lz4.decode(Uint8Array.from(block), rawLength)).toThrow('the payload');
    // What comes next is not disturbed.
    expect([...(lz4.decode(Uint8Array.of(0x10, 0x07), 1) as Uint8Array)]).toEqual([0x07]);
  });

  /** Writes sequences as a block; each distance as far back as there is something, the last sequence without a match. */
  function encodeSequences(
    sequences: readonly { literals: Uint8Array; distance?: number; matchLength?: number }[],
  ): Uint8Array {
    const block: number[] = [];
    let written = 0;
    const more = (length: number): number[] =>
      length < 15 ? [] : [...Array(Math.floor((length - 15) / 255)).fill(255), (length - 15) % 255];
    for (const [at, { literals, distance = 1, matchLength = 4 }] of sequences.entries()) {
      const last = at === sequences.length - 1;
      const rest = last ? 0 : matchLength - 4;
      block.push((Math.min(15, literals.length) << 4) | Math.min(15, rest));
      block.push(...more(literals.length), ...literals);
      written += literals.length;
      if (last) break;
      const back = Math.min(distance, written);
      block.push(back & 255, back >> 8, ...more(rest));
      written += matchLength;
    }
    return Uint8Array.from(block);
  }

  /** A deliberately plain decoder, written from lz4_Block_format.md. */
  function decodeLz4Block(block: Uint8Array): Uint8Array {
    const output: number[] = [];
    let at = 0;
    const next = (): number => block[at++] as number;
    const length = (nibble: number): number => {
      let total = nibble;
      for (let more = nibble === 15; more; ) {
        const byte = next();
        total += byte;
        more = byte === 255;
      }
      return total;
    };
    while (at < block.length) {
      const token = next();
      for (let left = length(token >> 4); left > 0; left--) output.push(next());
      if (at === block.length) break;
      const distance = next() + 256 * next();
      for (let left = length(token & 15) + 4; left > 0; left--) output.push(output.at(-distance) as number);
    }
    return Uint8Array.from(output);
  }
});

describe('deflate', () => {
  test.each([
    ['text', textBytes(300_000)],
    ['zeros', new Uint8Array(65_537)],
    ['random bytes', randomBytes(65_537, 5)],
    ['one byte', Uint8Array.of(7)],
  ])('%s means the same to fflate, both ways', async (_, chunk) => {
    expect(Buffer.compare(inflateSync(await deflate.encode(chunk)), chunk)).toBe(0);
    expect(Buffer.compare(await deflate.decode(deflateSync(chunk), chunk.length), chunk)).toBe(0);
  });

  test('a bomb of 1 GiB is refused without unpacking it', () => {
    const flush = deflateRawSync(new Uint8Array(16 * MIB), { finishFlush: zlib.Z_FULL_FLUSH });
    const bomb = Buffer.concat(Array.from({ length: 64 }, () => flush));
    const before = peakMemory();
    expect(() => decodePayload(deflate, bomb, new Uint8Array(64 * 1024))).toThrow(
      /^deflate could not decode/,
    );
    expect(peakMemory() - before).toBeLessThan(256 * MIB);
  });
});

// Last, because one of these takes memory on purpose, and the peak of a process stays.
describe('the codec contract finds a codec that', () => {
  const codecs: Record<string, [Partial<Codec>, RegExp]> = {
    'loses a byte': [{ decode: (payload) => new Uint8Array(payload.subarray(1)) }, /come back/],
    'returns its input': [{ encode: (chunk) => chunk }, /no view of the chunk/],
    'changes its input': [{ encode: (chunk) => new Uint8Array(chunk.fill(0)) }, /input is never changed/],
    'uses one output for every call': [oneOutput(), /survives the next/],
    'pads to the length it was asked for': [{ decode: padded }, /another raw length is refused/],
    // Elsewhere memory that nobody wrote to does not count.
    ...(process.platform === 'linux' && {
      'trusts a number in the payload': [{ decode: trusting }, /how much memory/],
    }),
  };
  test.each(Object.entries(codecs))('%s', async (_, [parts, broken]) => {
    const failed: string[] = [];
    for (const { title, run } of codecContract({ ...none, ...parts })) {
      await run().catch(() => failed.push(title));
    }
    expect(failed.join('\n')).toMatch(broken);
  });

  function oneOutput(): Partial<Codec> {
    const output = new Uint8Array(16 * MIB);
    return {
      encode(chunk) {
        output.set(chunk);
        return output.subarray(0, chunk.length);
      },
    };
  }

  function padded(payload: Uint8Array, rawLength: number): Uint8Array {
    const chunk = new Uint8Array(rawLength);
    chunk.set(payload.subarray(0, rawLength));
    return chunk;
  }

  function trusting(payload: Uint8Array): Uint8Array {
    const claimed = Buffer.from(payload.buffer).readUInt32LE();
    return claimed > 2 ** 30 ? new Uint8Array(claimed) : new Uint8Array(payload);
  }
});
