import { describe, expect, test } from '@jest/globals';
import { SharedBytes } from '#dist/core/server/shared-bytes.js';

describe('bytes that clients share', () => {
  test('are made once, however many ask at the same time', async () => {
    const cache = new SharedBytes(1000);
    let made = 0;
    const make = async () => {
      made++;
      return new Uint8Array(10);
    };
    const all = await Promise.all(Array.from({ length: 20 }, () => cache.get('a', make)));
    expect(made).toBe(1);
    expect(new Set(all.map((pinned) => pinned?.bytes)).size).toBe(1);
  });

  test('leave least recently used first, and never while somebody holds them', async () => {
    const cache = new SharedBytes(30);
    const make = async () => new Uint8Array(10);
    const held = await cache.get('held', make);
    for (const key of ['a', 'b', 'c', 'd']) (await cache.get(key, make))?.release();
    expect(['held', 'a', 'b', 'c', 'd'].filter((key) => cache.has(key))).toEqual(['held', 'c', 'd']);
    expect(cache.total).toBe(30);
    held?.release();
    (await cache.get('e', make))?.release();
    expect(cache.has('held')).toBe(false);
  });

  test('say when what is held takes all the room', async () => {
    const cache = new SharedBytes(20);
    const make = async () => new Uint8Array(10);
    const [one, two] = [await cache.get('1', make), await cache.get('2', make)];
    expect(cache.tight).toBe(true);
    one?.release();
    expect(cache.tight).toBe(false);
    two?.release();
  });

  test('count as held from the moment somebody asks, so that they cannot leave before they are given', async () => {
    const cache = new SharedBytes(10);
    const make = async () => new Uint8Array(10);
    (await cache.get('a', make))?.release();
    const asked = cache.get('a', make);
    expect(cache.tight).toBe(true);
    (await cache.get('b', make))?.release();
    const [held, again] = [await asked, await cache.get('a', make)];
    expect(again?.bytes).toBe(held?.bytes);
    held?.release();
    again?.release();
    expect([cache.tight, cache.total]).toEqual([false, 10]);
  });

  test('are not remembered when making them fails or yields nothing', async () => {
    const cache = new SharedBytes(100);
    await expect(cache.get('x', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await cache.get('x', async () => undefined)).toBeUndefined();
    expect(cache.has('x')).toBe(false);
    expect((await cache.get('x', async () => new Uint8Array(1)))?.bytes.length).toBe(1);
  });
});
