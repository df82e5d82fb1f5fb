import { existsSync, writeFileSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { encodePreamble } from '#dist/core/framing/encode-frame.js';
import { freePort } from '../support/free-port.js';
import { runCli, startCli } from '../support/run-cli.js';
import { openScriptedServer, type ScriptedServer } from '../support/scripted-peer.js';
import { makeTempFolder } from '../support/temp-folder.js';

const NOISE = /node:internal|^ {4}at |\[object |undefined|NaN|Warning/m;
const isRoot = process.getuid?.() === 0;

let here: Awaited<ReturnType<typeof makeTempFolder>>;
let other: ScriptedServer | undefined;
beforeEach(async () => {
  here = await makeTempFolder();
});
afterEach(async () => {
  await other?.close();
  other = undefined;
  await here.remove();
});

/** Runs a get that must fail: one line that says what, an exit code, and nothing new in the folder. */
async function failingGet(args: readonly string[], under?: readonly string[]) {
  const options = under === undefined ? {} : { under };
  const { exitCode, stdout, stderr } = await runCli(['get', ...args], { cwd: here.path, ...options });
  expect(stdout.toString()).toBe('');
  expect(stderr).not.toMatch(NOISE);
  expect(stderr.split('\n')[0]).toMatch(/^wirebound: /);
  expect(await readdir(here.path)).toEqual([]);
  return { exitCode, stderr };
}

describe('an address where no WireBound server is', () => {
  test('refuses: the address and what to do are named', async () => {
    const port = await freePort();
    const { exitCode, stderr } = await failingGet([`127.0.0.1:${port}`]);
    expect(exitCode).toBe(4);
    expect(stderr).toContain(`connection refused: nothing listens at 127.0.0.1:${port}`);
    expect(stderr).toContain('is wirebound serve running there?');
  });

  test('does not resolve: the name is named', async () => {
    const { exitCode, stderr } = await failingGet(['no-such-host.invalid']);
    expect(exitCode).toBe(4);
    expect(stderr).toContain('cannot resolve the host name no-such-host.invalid');
  });

  (isRoot ? test : test.skip)(
    'swallows every packet: it is unreachable, or times out, within seconds',
    async () => {
      const script = `ip link set lo up && ip link add v0 type veth peer name v1 &&
      ip addr add 10.9.0.1/24 dev v0 && ip link set v0 up && ip link set v1 up && exec "$0" "$@"`;
      const { exitCode, stderr } = await failingGet(['10.9.0.77'], ['unshare', '-n', 'sh', '-c', script]);
      expect(exitCode).toBe(4);
      expect(stderr).toMatch(/connecting to 10\.9\.0\.77:6767 (timed out|failed: it is unreachable)/);
    },
  );

  (isRoot ? test : test.skip)('has several addresses: all are tried, and all are named', async () => {
    const hosts = join(here.path, 'hosts');
    const port = await freePort();
    writeFileSync(hosts, '::1 dual.test\n127.0.0.1 dual.test\n');
    const script = `mount --bind ${hosts} /etc/hosts && exec "$0" "$@"`;
    const under = ['unshare', '-m', 'sh', '-c', script];
    const failed = await runCli(['get', `dual.test:${port}`], { under, cwd: '/' });
    expect(failed.exitCode).toBe(4);
    expect(failed.stderr).toContain(`dual.test:${port} (`);
    expect(failed.stderr).toContain('::1');
    expect(failed.stderr).toContain('127.0.0.1');
    writeFileSync(join(here.path, 'served'), 'x');
    for (const host of ['127.0.0.1', '::1']) {
      const serve = startCli(['serve', join(here.path, 'served'), '--json', '--host', host, '--port', '0']);
      const listening = await serve.event('listening');
      const args = ['get', `dual.test:${listening.port}`, '-o', '/dev/null', '-q'];
      expect(await runCli(args, { under, cwd: '/' })).toMatchObject({ exitCode: 0, stderr: '' });
    }
  });

  test('is one of this machine, written in any way that means it', async () => {
    const file = join(here.path, 'served');
    await writeFile(file, 'x');
    const serve = startCli(['serve', file, '--json', '--port', '0']);
    const { port } = await serve.event('listening');
    const linkLocal = Object.entries(networkInterfaces()).flatMap(([name, infos]) =>
      (infos ?? [])
        .filter(({ address }) => address.startsWith('fe80'))
        .map(({ address }) => `${address}%${name}`),
    );
    const hosts = [
      '[::1]',
      '[::ffff:127.0.0.1]',
      ' 127.0.0.1',
      ...linkLocal.map((address) => `[${address}]`),
    ];
    for (const host of hosts) {
      const args = ['get', `${host}:${port}`, '-o', '/dev/null', '-q'];
      expect({ host, ...(await runCli(args)) }).toMatchObject({ host, exitCode: 0, stderr: '' });
    }
    for (const host of ['::1', '127.0.0.1 ', ...linkLocal]) {
      const args = ['get', host, '-p', String(port), '-o', '/dev/null', '-q'];
      expect({ host, ...(await runCli(args)) }).toMatchObject({ host, exitCode: 0, stderr: '' });
    }
  });

  test.each([
    ['127.0.0.1:99999', '99999'],
    ['host:', 'host:'],
    ['-', '"-"'],
    ['[::1', '[::1'],
    ['1:2:3', '1:2:3'],
  ])('%j is a usage error', async (host, token) => {
    const { exitCode, stderr } = await failingGet([host]);
    expect(exitCode).toBe(2);
    expect(stderr.split('\n')[0]).toContain(token);
  });
});

describe('a server of another kind', () => {
  test.each([
    ['a web server', 'HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n<html>'],
    ['an SSH server that then stays silent', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['a TLS server', '\x16\x03\x01\x02\x00'],
    ['one that sends zeros', '\0'.repeat(100)],
  ])('is recognised: %s', async (_, banner) => {
    other = await openScriptedServer((peer) => peer.send(Buffer.from(banner, 'latin1')));
    const { exitCode, stderr } = await failingGet([`127.0.0.1:${other.port}`]);
    expect(exitCode).toBe(5);
    expect(stderr).toMatch(/^wirebound: 127\.0\.0\.1:\d+ is not a WireBound server$/m);
  });

  test('that closes at once is a lost connection', async () => {
    other = await openScriptedServer(async (peer) => void peer.socket.end());
    const { exitCode, stderr } = await failingGet([`127.0.0.1:${other.port}`, '--retry-for', '0']);
    expect(exitCode).toBe(4);
    expect(stderr).toMatch(/^wirebound: .*127\.0\.0\.1:\d+/);
  });

  test('that says nothing is given ten seconds', async () => {
    other = await openScriptedServer(async () => undefined);
    const { exitCode, stderr } = await failingGet([`127.0.0.1:${other.port}`]);
    expect(exitCode).toBe(5);
    expect(stderr).toContain('is not a WireBound server: it did not answer within 10 s');
  });

  test.each([0, 2, 255, 65535])('that speaks version %d is told apart, by the number', async (version) => {
    other = await openScriptedServer((peer) => peer.send(encodePreamble(version)));
    const { exitCode, stderr } = await failingGet([`127.0.0.1:${other.port}`]);
    expect(exitCode).toBe(5);
    expect(stderr).toContain(`protocol version ${version}, this program speaks version 1`);
    expect(stderr).toContain('install the same version of wirebound on both machines');
  });
});

describe('a place where the file cannot go', () => {
  let file: string;
  let served: Awaited<ReturnType<typeof makeTempFolder>>;
  let port: number;
  beforeAll(async () => {
    served = await makeTempFolder();
    file = join(served.path, 'served.bin');
    await writeFile(file, 'some content');
    port = await freePort();
    const serve = startCli(['serve', file, '--json', '--host', '127.0.0.1', '--port', String(port)]);
    await serve.event('listening');
  });
  afterAll(() => served.remove());

  test.each([
    ['a folder that is missing', '/nope/x', 8, 'folder /nope does not exist'],
    ['a folder to be that is missing', 'nope/', 8, 'does not exist'],
    ['a file in the place of the folder', '/etc/passwd/x', 8, 'not a directory'],
    ['no name at all', '', 2, '-o names no file or folder'],
  ])('%s is named before anything is received', async (_, output, code, said) => {
    const { exitCode, stderr } = await failingGet([`127.0.0.1:${port}`, '-o', output]);
    expect(exitCode).toBe(code);
    expect(stderr.split('\n')[0]).toContain(said);
  });

  (isRoot ? test : test.skip)('a folder that may not be written is named', async () => {
    await mkdir(join(served.path, 'ro'), { mode: 0o555 });
    const output = join(served.path, 'ro', 'x');
    const under = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];
    const { exitCode, stderr } = await runCli(['get', `127.0.0.1:${port}`, '-o', output], { under });
    expect(exitCode).toBe(8);
    expect(stderr).toMatch(/^wirebound: .*permission denied/m);
    expect(stderr).not.toMatch(NOISE);
    expect(stderr).toContain(join(served.path, 'ro'));
  });

  test('a current folder that was removed is named', async () => {
    const gone = join(served.path, 'gone');
    await mkdir(gone);
    const { exitCode, stderr } = await runCli(['get', `127.0.0.1:${port}`], {
      under: ['sh', '-c', `cd ${gone} && rmdir ${gone} && exec "$0" "$@"`],
    });
    expect(exitCode).toBe(8);
    expect(stderr).toMatch(/^wirebound: the current folder does not exist any more$/m);
    expect(existsSync(gone)).toBe(false);
  });
});
