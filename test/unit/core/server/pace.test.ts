import { describe, expect, test } from '@jest/globals';
import { WireBoundError } from '#dist/core/errors.js';
import { Geometry } from '#dist/core/framing/geometry.js';
import { Pacer } from '#dist/core/server/pace.js';
import { isPending } from '../../../support/gate.js';

const MIB = 1024 * 1024;
const never = new AbortController().signal;
const geometry = new Geometry(10_000 * MIB, MIB);
/** Chunks that the pass may be ahead. */
const LEAD = 256;

describe('Pacer', () => {
  test('where the file fits into memory the pass runs free', async () => {
    const pacer = new Pacer(geometry, geometry.size);
    pacer.moved({}, 0);
    await pacer.hold(9999, never);
  });

  test('without a client it runs free', async () => {
    await new Pacer(geometry, geometry.size - 1).hold(9999, never);
  });

  test('it stays within 256 MiB of the fastest client, and follows it', async () => {
    const pacer = new Pacer(geometry, 0);
    const [slow, fast] = [{}, {}];
    pacer.moved(slow, 0);
    pacer.moved(fast, 100);
    await pacer.hold(100 + LEAD, never);
    const held = pacer.hold(101 + LEAD, never);
    expect(await isPending(held)).toBe(true);
    pacer.moved(slow, 50);
    expect(await isPending(held)).toBe(true);
    pacer.moved(fast, 101);
    await held;
  });

  test('a client that leaves holds nothing up', async () => {
    const pacer = new Pacer(geometry, 0);
    const [first, second] = [{}, {}];
    pacer.moved(first, 0);
    pacer.moved(second, 0);
    const held = pacer.hold(5000, never);
    pacer.left(first);
    expect(await isPending(held)).toBe(true);
    pacer.left(second);
    await held;
  });

  test('a client that goes back to its beginning is behind again', async () => {
    const pacer = new Pacer(geometry, 0);
    const client = {};
    pacer.moved(client, 1000);
    await pacer.hold(1000, never);
    pacer.moved(client, 0);
    const held = pacer.hold(1000, never);
    expect(await isPending(held)).toBe(true);
    pacer.left(client);
    await held;
  });

  test('an abort ends the wait with its reason', async () => {
    const pacer = new Pacer(geometry, 0);
    pacer.moved({}, 0);
    const reason = new WireBoundError('STOPPED', 'stopped');
    const controller = new AbortController();
    const held = pacer.hold(9999, controller.signal);
    controller.abort(reason);
    await expect(held).rejects.toBe(reason);
    await expect(pacer.hold(9999, AbortSignal.abort(reason))).rejects.toBe(reason);
  });
});
