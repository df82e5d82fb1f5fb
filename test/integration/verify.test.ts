import { copyFile, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { VerifyEvent } from '#dist/core/client/verify-event.js';
import { content } from '../support/content.js';
import { runCli } from '../support/run-cli.js';
import { openScriptedServer, ScriptedContent, serveContent } from '../support/scripted-peer.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { openTestServer, type TestServer, testVerify } from '../support/test-server.js';
import { ThrottlingProxy } from '../support/throttling-proxy.js';

const CHUNK = 64 * 1024;
const SIZE = 20 * CHUNK + 77;
const FILE = content('log', SIZE);

let folder: Awaited<ReturnType<typeof makeTempFolder>>;
let source: string;
let server: TestServer;
let copies = 0;

beforeAll(async () => {
  folder = await makeTempFolder();
  source = join(folder.path, 'source.log');
  await writeFile(source, FILE);
});
afterEach(() => server?.stop());
afterAll(() => folder.remove());

/** A copy in which one byte of each of these chunks is wrong. */
async function copyWithBad(...chunks: readonly number[]): Promise<string> {
  const path = join(folder.path, `copy-${copies++}.log`);
  const bytes = Buffer.from(FILE);
  for (const index of chunks) bytes[index * CHUNK + 50] = 1;
  await writeFile(path, bytes);
  return path;
}

describe('verify', () => {
  test('says that an identical copy is identical, fetches nothing, and tells the server', async () => {
    server = await openTestServer(source);
    const copy = join(folder.path, 'same.log');
    await copyFile(source, copy);
    const result = await testVerify(server.port, copy);
    expect(result).toMatchObject({ result: 'IDENTICAL', badChunks: [], goodBytes: SIZE, comparedChunks: 21 });
    expect(result.bytesOnWire).toBeLessThan(2000);
    expect(await server.event('client.finished')).toMatchObject({ verified: true });
  });

  test.each(['none', 'lz4'])('names every bad chunk and leaves the copy alone (codec %s)', async (codec) => {
    server = await openTestServer(source, { codec });
    const copy = await copyWithBad(0, 3, 4, 19, 20);
    const before = await readFile(copy);
    const events: VerifyEvent[] = [];
    const result = await testVerify(server.port, copy, {}, events);
    expect(result).toMatchObject({ result: 'DIFFERENT', badChunks: [0, 3, 4, 19, 20], comparedChunks: 21 });
    expect(result.goodBytes).toBe(SIZE - 4 * CHUNK - 77);
    expect(events.flatMap((event) => (event.event === 'bad' ? [event.chunk] : []))).toEqual([
      0, 3, 4, 19, 20,
    ]);
    expect(before.equals(await readFile(copy))).toBe(true);
    expect(await server.event('client.finished')).toMatchObject({ verified: false, code: 'DIGEST_MISMATCH' });
  });

  test.each([
    ['too short', (path: string) => truncate(path, 12 * CHUNK + 5)],
    ['empty', (path: string) => truncate(path, 0)],
    ['too long', (path: string) => writeFile(path, 'more', { flag: 'a' })],
  ])('repairs a copy that is %s and has a bad chunk, without touching what is right', async (_, damage) => {
    server = await openTestServer(source, { codec: 'deflate' });
    const copy = await copyWithBad(7);
    await damage(copy);
    const { ino } = await stat(copy);
    expect(await testVerify(server.port, copy, { repair: true })).toMatchObject({ result: 'REPAIRED' });
    expect(FILE.equals(await readFile(copy))).toBe(true);
    expect((await stat(copy)).ino).toBe(ino);
    expect(await testVerify(server.port, copy)).toMatchObject({ result: 'IDENTICAL' });
  });

  test('goes on over another connection after a cut, and counts a chunk once', async () => {
    server = await openTestServer(source);
    const copy = await copyWithBad(2, 9, 15);
    const proxy = await ThrottlingProxy.open(server.port, (n) =>
      n < 6 ? { toClient: { cutAfter: 20_000 + 15_000 * n } } : {},
    );
    const result = await testVerify(proxy.port, copy);
    await proxy.close();
    expect(result).toMatchObject({ result: 'DIFFERENT', badChunks: [2, 9, 15] });
    expect(proxy.connections).toBeGreaterThan(1);
  });

  test('gives up when too much is bad, and says how far it came', async () => {
    server = await openTestServer(source);
    const copy = await copyWithBad(1, 2, 3, 5);
    const result = await testVerify(server.port, copy, { limits: { badChunks: 3 } });
    expect(result).toMatchObject({ result: 'DIFFERENT', badChunks: [1, 2, 3], comparedChunks: 5 });
    expect(result.sha256).toBeUndefined();
  });

  test('does not call a copy repaired when the server sends wrong chunks', async () => {
    const offered = new ScriptedContent(FILE);
    const evil = await openScriptedServer(async (peer) => {
      await serveContent(peer, offered, { chunk: (index) => offered.frameWith(index, Buffer.alloc(CHUNK)) });
    });
    const copy = await copyWithBad(2);
    const before = await readFile(copy);
    await expect(testVerify(evil.port, copy, { repair: true })).rejects.toMatchObject({
      code: 'DIGEST_MISMATCH',
    });
    await evil.close();
    expect(evil.peers).toHaveLength(3);
    expect(before.equals(await readFile(copy))).toBe(true);
  });

  test('on the command line ends with 0, 6 and a list a person can read', async () => {
    server = await openTestServer(source);
    const copy = await copyWithBad(3, 4, 5, 9);
    const host = `127.0.0.1:${server.port}`;
    const different = await runCli(['verify', copy, host]);
    expect(different.exitCode).toBe(6);
    expect(different.stderr).toContain('bad      4 chunks of 21: 3-5, 9\n');
    expect(different.stderr).toContain('--repair puts it right');
    const repaired = await runCli(['verify', copy, host, '--repair', '--json']);
    expect(repaired.exitCode).toBe(0);
    expect(repaired.stdout.toString()).toMatch(/"event":"result","result":"REPAIRED"/);
    const missing = await runCli(['verify', join(folder.path, 'nope'), host]);
    expect(missing).toMatchObject({ exitCode: 8 });
    expect(missing.stderr).toMatch(
      /^wirebound: cannot open \S+nope: no such file or directory \(ENOENT\)\n$/,
    );
  });
});
