import { describe, expect, test } from '@jest/globals';
import { Chain, EMPTY_SHA256 } from '#dist/core/digest/chain.js';
import { WireBoundError } from '#dist/core/errors.js';
import { isPending } from '../../../support/gate.js';
import { prefixDigests } from '../../../support/prefix-digests.js';

const never = new AbortController().signal;
const digests = (...fills: number[]) => Buffer.concat(fills.map((fill) => Buffer.alloc(32, fill)));

describe('Chain', () => {
  test('it grows from the front, and its frontier counts what is known', () => {
    const chain = new Chain(3);
    expect([chain.frontier, chain.complete, chain.sha256]).toEqual([0, false, undefined]);
    chain.append(digests(1, 2));
    expect([chain.frontier, chain.complete, chain.sha256]).toEqual([2, false, undefined]);
    chain.append(digests(3));
    expect([chain.frontier, chain.complete, chain.sha256]).toEqual([3, true, '03'.repeat(32)]);
    expect(Buffer.from(chain.bytes)).toEqual(digests(1, 2, 3));
    expect(Buffer.from(chain.digest(1))).toEqual(digests(2));
  });

  test('its end is what sha256sum prints', () => {
    const chain = new Chain(2, prefixDigests(Buffer.from('abc'), 2));
    expect(chain.sha256).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });

  test('an empty file has a complete chain and the digest of nothing', () => {
    const chain = new Chain(0);
    expect([chain.complete, chain.sha256, chain.bytes.length]).toEqual([true, EMPTY_SHA256, 0]);
    expect(EMPTY_SHA256).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  });

  test('a digest that is not known throws: such a frame must not be built', () => {
    const chain = new Chain(3);
    chain.append(digests(1));
    for (const index of [1, 2, 3]) {
      expect(() => chain.digest(index)).toThrow(
        expect.objectContaining({
          code: 'INTERNAL',
          message: `the digest of chunk ${index} is not known yet (frontier 1)`,
        }),
      );
    }
  });

  test('whoever waits for a chunk is woken once its digest is known, not earlier', async () => {
    const chain = new Chain(3);
    const second = chain.reach(1, never);
    const third = chain.reach(2, never);
    chain.append(digests(1));
    expect(await isPending(second)).toBe(true);
    chain.append(digests(2));
    await second;
    expect(await isPending(third)).toBe(true);
    chain.append(digests(3));
    await third;
    await chain.reach(0, never);
  });

  test('an abort ends the wait of one, not that of others', async () => {
    const chain = new Chain(1);
    const controller = new AbortController();
    const aborted = chain.reach(0, controller.signal);
    const patient = chain.reach(0, never);
    const reason = new WireBoundError('CONNECTION_LOST', 'gone');
    controller.abort(reason);
    await expect(aborted).rejects.toBe(reason);
    await expect(chain.reach(0, controller.signal)).rejects.toBe(reason);
    expect(await isPending(patient)).toBe(true);
    chain.append(digests(1));
    await patient;
    await chain.reach(0, controller.signal);
  });

  test('after a failure nobody waits for ever, and what is known stays known', async () => {
    const chain = new Chain(2);
    chain.append(digests(1));
    const waiting = chain.reach(1, never);
    const failure = new WireBoundError('SOURCE_UNREADABLE', 'EIO');
    chain.fail(failure);
    chain.fail(new Error('a later one'));
    await expect(waiting).rejects.toBe(failure);
    await expect(chain.reach(1, never)).rejects.toBe(failure);
    await chain.reach(0, never);
    expect(chain.digest(0)[0]).toBe(1);
  });

  test('a thousand waits on one signal leave no listener behind', async () => {
    const { signal } = new AbortController();
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => void warnings.push(warning);
    process.on('warning', onWarning);
    const chain = new Chain(1000);
    for (let index = 0; index < 1000; index++) {
      const wait = chain.reach(index, signal);
      chain.append(digests(0));
      await wait;
    }
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', onWarning);
    expect(warnings).toEqual([]);
  });
});
