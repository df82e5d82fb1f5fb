import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { CodecRecord } from '#dist/core/server/codec-record.js';
import { looksRandom } from '#dist/core/server/looks-random.js';
import { content } from '../../../support/content.js';

describe('what is known of a codec and a file', () => {
  test('a chunk that stayed raw does so for everyone; others say nothing about it', () => {
    const record = new CodecRecord(100);
    for (let index = 0; index < 100; index++) {
      expect(record.staysRaw(index)).toBe(false);
      if (index % 2 === 0) record.stayed(index);
      else record.shrank(1000, 100, 0.001);
    }
    expect(record.ratio).toBeCloseTo(0.1);
    expect([0, 1, 2, 3].map((index) => record.staysRaw(index))).toEqual([true, false, true, false]);
  });

  test('one slow encode does not make a codec slow, many do', () => {
    const record = new CodecRecord(100);
    expect(record.rate).toBeUndefined();
    record.shrank(1000, 100, 1000 / 80e6);
    expect(record.rate).toBeGreaterThan(200e6);
    for (let index = 1; index < 40; index++) record.shrank(1000, 100, 1000 / 80e6);
    expect(record.rate).toBeLessThan(90e6);
  });

  test('an encode that waited for a processor says little about a codec that is known', () => {
    const record = new CodecRecord(100);
    for (let index = 0; index < 50; index++) record.shrank(262_144, 20_000, 262_144 / 500e6);
    record.shrank(262_144, 20_000, 10 * (262_144 / 500e6));
    expect(record.rate).toBeGreaterThan(350e6);
  });

  test('what is old does not count against the opinion', async () => {
    const record = new CodecRecord(100);
    for (let index = 0; index < 50; index++) record.shrank(1000, 100, 1000 / 80e6);
    await new Promise((resolve) => setTimeout(resolve, 120));
    expect(record.rate).toBeUndefined();
    for (let index = 0; index < 10; index++) record.shrank(1000, 100, 1000 / 80e6);
    expect(record.rate).toBeLessThan(120e6);
  });

  test('encodes that end together do not make the rate infinite', () => {
    const record = new CodecRecord(100);
    for (let index = 0; index < 100; index++) record.shrank(1000, 100, index % 2 === 0 ? 0.002 : 0);
    expect(record.rate).toBeGreaterThan(0.7e6);
    expect(record.rate).toBeLessThan(1.4e6);
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
    record.shrank(1000, 100, 0.001);
    expect(worth(0, 1000)).toBe(0);
  });

  test('a codec that is abandoned shrinks nothing any more', () => {
    const record = new CodecRecord(3);
    record.shrank(1000, 100, 0.001);
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
