import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { CodecRecord } from '#dist/core/server/codec-record.js';
import { looksRandom } from '#dist/core/server/looks-random.js';
import { content } from '../../../support/content.js';
import { createGate } from '../../../support/gate.js';

describe('what is known of a codec and a file', () => {
  test('a long run of chunks that stay raw is only looked at now and then', () => {
    const record = new CodecRecord(1000);
    let looks = 0;
    for (let index = 0; index < 1000; index++) {
      if (record.staysRaw(index)) continue;
      looks++;
      record.stayed(index);
    }
    expect(looks).toBeGreaterThan(200);
    expect(looks).toBeLessThan(300);
  });

  test('a file of alternating random and text chunks is looked at chunk by chunk', () => {
    const record = new CodecRecord(100);
    for (let index = 0; index < 100; index++) {
      expect(record.staysRaw(index)).toBe(false);
      if (index % 2 === 0) record.stayed(index);
      else record.shrank(index, 1000, 100, 0.001);
    }
    expect(record.ratio).toBeCloseTo(0.1);
    expect(record.rate).toBeCloseTo(1e6);
  });

  test('encodes that end together do not make the rate infinite', () => {
    const record = new CodecRecord(10);
    record.shrank(0, 1000, 100, 0.002);
    record.shrank(1, 1000, 100, 0);
    expect(record.rate).toBeCloseTo(1000 / (0.8 * 0.002));
  });

  test('text after random data is found within a few chunks', () => {
    const record = new CodecRecord(200);
    for (let index = 0; index < 101; index++) if (!record.staysRaw(index)) record.stayed(index);
    let first = 101;
    while (record.staysRaw(first)) first++;
    expect(first - 101).toBeLessThan(4);
  });

  test('what was skipped just before text was found is looked at by the next client', () => {
    const record = new CodecRecord(200);
    for (let index = 0; index < 104; index++) if (!record.staysRaw(index)) record.stayed(index);
    expect([101, 102, 103].map((index) => record.staysRaw(index))).toEqual([true, true, true]);
    record.shrank(104, 1000, 100, 0.001);
    expect([99, 100, 101, 102, 103].map((index) => record.staysRaw(index))).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });

  test('a codec that shrinks nothing is worth four tries, and one now and then', () => {
    const record = new CodecRecord(1000);
    const worth = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, at) => record.isWorthTrying(from + at)).filter(Boolean).length;
    for (let index = 1; index < 50; index++) record.stayed(index, false); // looked random: says nothing of the codec
    for (let index = 50; index < 53; index++) record.stayed(index);
    expect(worth(53, 63)).toBe(10);
    record.stayed(53);
    expect([worth(54, 64), worth(64, 65), worth(0, 1000)]).toEqual([0, 1, 16]);
    record.shrank(64, 1000, 100, 0.001);
    expect(worth(0, 1000)).toBe(0);
  });

  test('one try at a time is worth it', async () => {
    const record = new CodecRecord(10);
    const gate = createGate();
    const trying = record.during(() => gate.opened);
    expect(record.isWorthTrying(1)).toBe(false);
    gate.open();
    await trying;
    expect(record.isWorthTrying(1)).toBe(true);
  });

  test('a codec that is abandoned shrinks nothing any more', () => {
    const record = new CodecRecord(3);
    record.shrank(1, 1000, 100, 0.001);
    record.abandon();
    expect([0, 1, 2].every((index) => record.staysRaw(index))).toBe(true);
  });
});

describe('a sample', () => {
  test('of random bytes looks random', () => {
    for (let round = 0; round < 100; round++) expect(looksRandom(randomBytes(4096))).toBe(true);
  });

  test('of text, of zeros and of base64 does not', () => {
    expect(looksRandom(content('log', 4096))).toBe(false);
    expect(looksRandom(new Uint8Array(4096))).toBe(false);
    expect(looksRandom(Buffer.from(randomBytes(3072).toString('base64')))).toBe(false);
  });
});
