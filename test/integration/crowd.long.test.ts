import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { encodeFrame } from '#dist/core/framing/encode-frame.js';
import { encodeGet } from '#dist/core/framing/messages.js';
import { content } from '../support/content.js';
import { startServe } from '../support/run-cli.js';
import { helloBytes, ScriptedPeer } from '../support/scripted-peer.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { testGet } from '../support/test-server.js';

const MIB = 2 ** 20;
const CHUNK = 256 * 1024;
const COUNT = 48;
const SIZE = COUNT * CHUNK;
/** All that a client receives at least once it has everything: chunks with their headers. */
const WHOLE = SIZE + COUNT * 44;
const GET = encodeFrame('get', encodeGet({ first: 0, count: COUNT, reason: 'first' }));

let folder: Awaited<ReturnType<typeof makeTempFolder>>;
let source: string;
let runs = 0;

beforeAll(async () => {
  folder = await makeTempFolder();
  source = join(folder.path, 'source.bin');
  await writeFile(source, content('random', SIZE));
});
afterAll(() => folder.remove());

/** Connects, asks for everything, and calls `onBytes` with how much has come so far; as light as a client can be. */
async function ask(port: number, onBytes: (socket: Socket, total: number) => void): Promise<Socket> {
  let total = 0;
  let asked = false;
  const socket: Socket = connect({
    port,
    host: '127.0.0.1',
    onread: {
      buffer: Buffer.alloc(256 * 1024),
      callback: (bytes) => {
        total += bytes;
        if (!asked) socket.write(GET);
        asked = true;
        onBytes(socket, total);
        return !socket.isPaused();
      },
    },
  });
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(helloBytes((++runs).toString(16).padStart(32, '0')));
  return socket;
}

/** Resolves, with the seconds it took, once `count` clients have received everything. */
async function fetchAll(port: number, count: number): Promise<number> {
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: count }, async () => {
      let done = () => {};
      const finished = new Promise<void>((resolve) => {
        done = resolve;
      });
      const socket = await ask(port, (_, total) => total >= WHOLE && done());
      socket.once('close', done);
      await finished;
      socket.destroy();
    }),
  );
  return (performance.now() - startedAt) / 1000;
}

test('50 clients that never read and 50 that read 10 KiB/s cost 400 others next to nothing, and are dropped or served', async () => {
  const { cli, port } = await startServe([source]);
  await fetchAll(port, 50);
  const [memory, descriptors] = [await anonymousMemory(cli.pid), await descriptorCount(cli.pid)];
  const alone = await fetchAll(port, 400);
  const dead = await Promise.all(Array.from({ length: 50 }, () => ask(port, (socket) => socket.pause())));
  const slow = await Promise.all(
    Array.from({ length: 50 }, () =>
      ask(port, (socket) => {
        socket.pause();
        setTimeout(() => socket.resume(), 25_000).unref(); // 256 KiB at a time
      }),
    ),
  );
  const together = await fetchAll(port, 400);
  const grown = (await anonymousMemory(cli.pid)) - memory;
  process.stderr.write(`400 clients: ${alone.toFixed(1)} s, beside 100 slow ones ${together.toFixed(1)} s\n`);
  process.stderr.write(
    `ratio ${(together / alone).toFixed(2)}, ${(grown / MIB).toFixed(1)} MiB more memory\n`,
  );
  expect(together).toBeLessThan(2 * alone + 2);
  expect(grown).toBeLessThan(48 * MIB);
  await cli.event('client.finished', () => idle(cli.events) >= 50, 180_000);
  for (const socket of [...dead, ...slow]) socket.destroy();
  await expectSoon(async () => expect(await descriptorCount(cli.pid)).toBeLessThanOrEqual(descriptors));
});

test('1,000 clients that come, fetch and vanish leave descriptors, memory and maps as they were (B55 B57)', async () => {
  const env = { NODE_OPTIONS: '--max-old-space-size=48 --max-semi-space-size=2' };
  const { cli, port } = await startServe([source, '--codec', 'lz4'], { env });
  const round = async (clients: number) => {
    for (let done = 0; done < clients; done += 10) {
      await Promise.all(
        Array.from({ length: 10 }, async (_, n) => {
          const peer = await ScriptedPeer.connect(port);
          await peer.send(helloBytes((++runs).toString(16).padStart(32, '0')));
          await peer.frame('manifest');
          await peer.send(GET);
          await peer.until(n * 40_000);
          peer.reset();
        }),
      );
    }
  };
  await round(200);
  expect(await testGet(port)).toMatchObject({ result: 'PASS' });
  const before = [await descriptorCount(cli.pid), await mapCount(cli.pid)];
  const memory = await anonymousMemory(cli.pid);
  await round(1_000);
  expect(await testGet(port)).toMatchObject({ result: 'PASS' });
  await expectSoon(async () =>
    expect(await descriptorCount(cli.pid)).toBeLessThanOrEqual(before[0] as number),
  );
  expect(await mapCount(cli.pid)).toBeLessThanOrEqual((before[1] as number) + 2);
  expect((await anonymousMemory(cli.pid)) - memory).toBeLessThan(24 * MIB);
  expect(cli.stderr).toBe('');
});

test('64 gets that start in the same second are all served from one reading of the file (B79)', async () => {
  const { cli, port } = await startServe([source, '--until', '65']);
  const all = Array.from({ length: 64 }, () => testGet(port));
  await cli.event('client.finished');
  const results = await Promise.all([...all, testGet(port)]);
  expect(results.filter(({ result }) => result === 'PASS')).toHaveLength(65);
  await cli.finished;
  const summary = await cli.event('summary');
  expect(summary).toMatchObject({ verified: 65, failed: 0 });
  expect(Number(summary.bytesFromStorage)).toBeLessThanOrEqual(1.02 * SIZE);
});

test('1,000 gets that are stopped in the middle leave nothing open in their process', async () => {
  const { port } = await startServe([source]);
  const cycle = async (index: number) => {
    const stop = new AbortController();
    const result = testGet(port, {
      signal: stop.signal,
      onEvent: (event) => {
        if (event.event === 'manifest') setTimeout(() => stop.abort(new Error('enough')), index % 7);
      },
    });
    expect((await result).result).toMatch(/PASS|FAIL/);
  };
  for (let index = 0; index < 50; index++) await cycle(index);
  const before = [await descriptorCount(process.pid), process.getActiveResourcesInfo().length];
  const memory = await anonymousMemory(process.pid);
  for (let index = 0; index < 1_000; index++) await cycle(index);
  await expectSoon(async () => {
    expect(await descriptorCount(process.pid)).toBeLessThanOrEqual((before[0] as number) + 2);
    expect(process.getActiveResourcesInfo().length).toBeLessThanOrEqual((before[1] as number) + 2);
  });
  // Heap that nobody had to collect yet is in it; the rings of all these gets would be gigabytes.
  expect((await anonymousMemory(process.pid)) - memory).toBeLessThan(160 * MIB);
});

function idle(events: readonly { readonly event: string; readonly code?: unknown }[]): number {
  return events.filter(({ event, code }) => event === 'client.finished' && code === 'IDLE').length;
}

async function descriptorCount(pid: number): Promise<number> {
  return (await readdir(`/proc/${pid}/fd`)).length;
}

async function mapCount(pid: number): Promise<number> {
  return (await readFile(`/proc/${pid}/maps`, 'utf8')).split('\n').filter((line) => line.includes(source))
    .length;
}

async function anonymousMemory(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^RssAnon:\s+(\d+) kB/m.exec(status)?.[1]) * 1024;
}

/** Closing takes a moment; what is still not so after some seconds fails. */
async function expectSoon(check: () => Promise<void>): Promise<void> {
  for (let left = 100; ; left--) {
    try {
      return await check();
    } catch (error) {
      if (left === 0) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
