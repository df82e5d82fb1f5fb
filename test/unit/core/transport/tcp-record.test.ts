import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { loadTcpRecords } from '#dist/core/transport/tcp-record.js';
import { linkLimit, TestNetwork } from '../../../../benchmark/support/test-network.js';
import { runModule, WITHOUT_KOFFI } from '../../../support/run-module.js';

const MIB = 2 ** 20;
const onLinux = process.platform === 'linux' ? describe : describe.skip;

onLinux('what the kernel notes of a connection (Linux only)', () => {
  let sender: Socket;
  let receiver: Socket;
  beforeEach(async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    sender = connect((server.address() as AddressInfo).port, '127.0.0.1');
    [[receiver]] = await Promise.all([accepted, once(sender, 'connect')]);
    server.close();
  });
  afterEach(() => {
    sender.destroy();
    receiver.destroy();
  });

  test('counts what the other side has acknowledged, and time', async () => {
    const read = await loadTcpRecords();
    const before = read?.(sender);
    sender.write(Buffer.alloc(MIB));
    for (let bytes = 0; bytes < MIB; ) bytes += ((await once(receiver, 'data')) as [Buffer])[0].length;
    await sleep(100); // for the last acknowledgement
    const after = read?.(sender);
    expect((after?.acknowledged ?? 0) - (before?.acknowledged ?? 0)).toBe(MIB);
    expect((after?.atUs ?? 0) - (before?.atUs ?? 0)).toBeGreaterThan(99_000);
    expect(after?.unsent).toBe(0);
  });

  test('does not blame the path for a receiver that does not read', async () => {
    const read = await loadTcpRecords();
    receiver.pause();
    sender.write(Buffer.alloc(64 * MIB));
    await sleep(300); // until its buffers are full
    const before = read?.(sender);
    await sleep(500);
    const after = read?.(sender);
    expect(before).toBeDefined();
    expect((after?.pathLimitedUs ?? 0) - (before?.pathLimitedUs ?? 0)).toBeLessThan(50_000);
    expect(after?.unsent).toBeGreaterThan(0);
    expect(after?.unsent).toBeLessThanOrEqual(64 * MIB - (after?.acknowledged ?? 0));
  });

  test('says nothing about a socket that is closed', async () => {
    const read = await loadTcpRecords();
    sender.destroy();
    expect(read).toBeDefined();
    expect(read?.(sender)).toBeUndefined();
  });
});

/** Listens on a port that is free on a host of its own, and reads whatever comes. */
const RECEIVING = `
  import { createServer } from 'node:net';
  createServer((socket) => socket.resume()).listen(7000, () => console.log('listening'));
`;
/** Sends to the first client's host as fast as it goes; says what the kernel has noted during one second. */
const SENDING = `
  import { once } from 'node:events';
  import { connect } from 'node:net';
  import { setTimeout } from 'node:timers/promises';
  import { loadTcpRecords } from '#dist/core/transport/tcp-record.js';
  const read = await loadTcpRecords();
  const socket = connect(7000, '10.77.0.2');
  await once(socket, 'connect');
  socket.write(Buffer.alloc(32 * 1024 * 1024));
  await setTimeout(500);
  const before = read(socket);
  await setTimeout(1000);
  const after = read(socket);
  const limitedUs = after.pathLimitedUs - before.pathLimitedUs;
  const rate = (after.acknowledged - before.acknowledged) / (limitedUs / 1e6);
  console.log(JSON.stringify({ limitedShare: limitedUs / (after.atUs - before.atUs), rate }));
  process.exit();
`;

const obstacle = TestNetwork.obstacle();
const behindLink = obstacle === undefined ? test : test.skip;
behindLink(
  `blames a link of 64 Mbit/s, and knows what it carries${obstacle === undefined ? '' : ` (${obstacle})`}`,
  async () => {
    const network = new TestNetwork(1);
    network.limit(linkLimit('64 Mbit/s'));
    const receiving = runModule(RECEIVING, [], [...network.onClient(0)]);
    try {
      await receiving.waitFor('listening');
      const { stdout, stderr } = await runModule(SENDING, [], [...network.onServer]).finished;
      expect(stderr).toBe('');
      const { limitedShare, rate } = JSON.parse(stdout) as { limitedShare: number; rate: number };
      expect(limitedShare).toBeGreaterThan(0.8);
      expect(rate / 8e6).toBeGreaterThan(0.7);
      expect(rate / 8e6).toBeLessThan(1.3);
    } finally {
      await receiving.end();
      network.close();
    }
  },
);

test.each([
  ['system', "Object.defineProperty(process, 'platform', { value: 'darwin' });"],
  ['package', WITHOUT_KOFFI],
])('nothing is read where the %s for it is missing', async (_, without) => {
  const { stdout, stderr } = await runModule(`
    ${without}
    const { loadTcpRecords } = await import('#dist/core/transport/tcp-record.js');
    console.log(await loadTcpRecords());
  `).finished;
  expect([stdout, stderr]).toEqual(['undefined\n', '']);
});
