import { readFileSync, renameSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { content } from '../../../test/support/content.js';
import { type Nginx, startNginx } from '../../../test/support/nginx.js';
import { runCli, startServe } from '../../../test/support/run-cli.js';
import { makeTempFolder } from '../../../test/support/temp-folder.js';

const PLUGIN = fileURLToPath(new URL('..', import.meta.url));
const SIZE = 12 * 2 ** 20 + 345;

let temp: Awaited<ReturnType<typeof makeTempFolder>>;
let nginx: Nginx | undefined;
beforeEach(async () => {
  temp = await makeTempFolder();
});
afterEach(async () => {
  await nginx?.stop();
  await temp.remove();
});

/** Puts a file where nginx serves it, last changed so many hours ago. */
function publish({ root }: Nginx, bytes: Uint8Array, hours: number): void {
  writeFileSync(join(root, 'new'), bytes);
  utimesSync(join(root, 'new'), Date.now() / 1000, Date.now() / 1000 - hours * 3600);
  renameSync(join(root, 'new'), join(root, 'big.bin'));
}

const serve = (port: number, ...args: string[]) =>
  startServe([`http://127.0.0.1:${port}/big.bin`, '--plugin', PLUGIN, ...args]);
const get = (port: number, path: string) => runCli(['get', `127.0.0.1:${port}`, '-o', path, '--json']);

describe('wirebound serve http://…', () => {
  test('reads each byte once for all clients, early and late, and knows the digest the next time', async () => {
    nginx = await startNginx(temp.path);
    const bytes = content('random', SIZE);
    publish(nginx, bytes, 1);
    const first = await serve(nginx.port, '--until', '4');
    const paths = [1, 2, 3, 4].map((number) => join(temp.path, `copy-${number}`));
    await Promise.all(paths.slice(0, 3).map((path) => get(first.port, path)));
    await get(first.port, paths[3] as string);
    expect((await first.cli.finished).exitCode).toBe(0);
    for (const path of paths) expect(readFileSync(path).equals(bytes)).toBe(true);
    expect(first.cli.events.at(-1)).toMatchObject({
      event: 'summary',
      name: 'big.bin',
      verified: 4,
      bytesSent: 4 * SIZE,
      bytesFromSource: SIZE,
    });

    const second = await serve(nginx.port, '--until', '1');
    expect(await second.cli.event('digest')).toMatchObject({ cached: true });
    await get(second.port, join(temp.path, 'again'));
    await second.cli.finished;
    expect(second.cli.events.at(-1)).toMatchObject({ verified: 1, bytesFromSource: SIZE });

    await nginx.stop();
    const sent = readFileSync(nginx.logPath, 'utf8')
      .trim()
      .split('\n')
      .map((line) => Number(line.split(' ')[3]));
    // Two servers read the file once each; what is left are looks of one byte.
    const total = sent.reduce((sum, size) => sum + size, 0);
    expect(total - 2 * SIZE).toBeLessThan(100);
    expect(total).toBeGreaterThanOrEqual(2 * SIZE);
  });

  test('serves what a server without ranges has', async () => {
    nginx = await startNginx(temp.path, 'max_ranges 0;');
    const bytes = content('log', SIZE);
    publish(nginx, bytes, 1);
    const { cli, port } = await serve(nginx.port, '--until', '1', '--codec', 'lz4');
    expect((await cli.event('listening')).source).toBe(
      'http: opens http:// (the server has no ranges, a copy on disk)',
    );
    await get(port, join(temp.path, 'copy'));
    expect(readFileSync(join(temp.path, 'copy')).equals(bytes)).toBe(true);
    await cli.finished;
  });

  test('ends runs with SOURCE_CHANGED when the file is replaced, and serves the new one to the next', async () => {
    nginx = await startNginx(temp.path, 'limit_rate 600k;');
    publish(nginx, content('random', 4 * SIZE, 1), 2);
    const { cli, port } = await serve(nginx.port, '--until', '1');
    const early = get(port, join(temp.path, 'early'));
    await cli.event('client.connected');
    publish(nginx, content('random', SIZE, 2), 1);
    const { exitCode, stdout } = await early;
    expect(exitCode).toBe(3);
    expect(stdout.toString()).toContain('"code":"SOURCE_CHANGED"');
    const late = await get(port, join(temp.path, 'late'));
    expect(late.exitCode).toBe(0);
    expect(readFileSync(join(temp.path, 'late')).equals(content('random', SIZE, 2))).toBe(true);
    expect((await cli.finished).exitCode).toBe(0);
  });

  test.each([
    ['missing.bin', 'SOURCE_NOT_FOUND', 'answers 404'],
    ['../', 'USAGE', 'is not a URL'],
  ])('says what is wrong with %s', async (path, code, message) => {
    nginx = await startNginx(temp.path);
    const reference = code === 'USAGE' ? 'http://' : `http://127.0.0.1:${nginx.port}/${path}`;
    const { stdout } = await runCli(['serve', reference, '--plugin', PLUGIN, '--json']);
    expect(JSON.parse(stdout.toString())).toMatchObject({
      event: 'error',
      code,
      message: expect.stringContaining(message),
    });
  });
});
