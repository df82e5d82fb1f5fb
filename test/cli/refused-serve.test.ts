import { once } from 'node:events';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { writeSparseFile } from '../support/random-file.js';
import { runCli, startCli, startServe } from '../support/run-cli.js';
import { makeTempFolder } from '../support/temp-folder.js';

const NOBODY = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];
const asRoot = process.getuid?.() === 0 ? test : test.skip;

let folder: Awaited<ReturnType<typeof makeTempFolder>>;
let big: string;
beforeAll(async () => {
  folder = await makeTempFolder();
  // Hashing it would take many seconds: what fails must fail before that.
  big = join(folder.path, 'big.bin');
  await writeSparseFile(big, 50 * 2 ** 30);
});
afterAll(() => folder.remove());

async function failingServe(args: readonly string[], under: readonly string[] = []) {
  const port = args.includes('--port') ? [] : ['--port', '0'];
  const options = { cwd: folder.path, under, keepInputOpen: true, input: new Uint8Array(1) };
  const { exitCode, stdout, stderr } = await runCli(['serve', ...port, ...args], options);
  expect(stdout.toString()).toBe('');
  expect(stderr).not.toMatch(/^serving|^hashing|^ {4}at |node:internal|Warning/m);
  expect(stderr).toMatch(/^wirebound: /m);
  return { exitCode, stderr };
}

describe('a thing that cannot be served', () => {
  test('that is missing is named', async () => {
    const { exitCode, stderr } = await failingServe(['nope']);
    expect(exitCode).toBe(3);
    expect(stderr).toMatch(/nope.* does not exist$/m);
  });

  test.each(['.', 'photos', 'photos/'])(
    '%s, a folder, is refused with the line that serves it',
    async (path) => {
      await mkdir(join(folder.path, 'photos'), { recursive: true });
      const { exitCode, stderr } = await failingServe([path]);
      expect(exitCode).toBe(3);
      expect(stderr).toMatch(/tar c.* \| wirebound serve - --name .+\.tar/);
    },
  );

  asRoot('that may not be read is named', async () => {
    await writeFile(join(folder.path, 'secret'), 'x', { mode: 0o000 });
    await chmod(folder.path, 0o755);
    const { exitCode, stderr } = await failingServe(['secret'], NOBODY);
    expect(exitCode).toBe(3);
    expect(stderr).toMatch(/secret.* may not be read/);
  });

  test('and one too many are usage errors', async () => {
    expect((await failingServe(['a', 'b'])).exitCode).toBe(2);
  });

  test.each([
    [['--codec', 'zip'], 2, 'zip'],
    [['--source', 'tape'], 2, 'tape'],
  ] as const)('with %j is refused by the name of what is unknown', async (flags, code, token) => {
    const { exitCode, stderr } = await failingServe([big, ...flags]);
    expect({ exitCode, named: stderr.includes(token) }).toEqual({ exitCode: code, named: true });
  });
});

describe('a port that cannot be had', () => {
  test('because another program has it is named, before the file is looked at', async () => {
    const owner = createServer().listen(0, '127.0.0.1');
    await once(owner, 'listening');
    const { port } = owner.address() as AddressInfo;
    // Standard input, which does not end here, would have to be read whole first.
    for (const args of [[big], [big, '--host', '127.0.0.1'], ['-']]) {
      const { exitCode, stderr } = await failingServe([...args, '--port', String(port)]);
      expect(exitCode).toBe(4);
      expect(stderr).toContain(`port ${port} is already in use`);
      expect(stderr).toContain('--port 0');
    }
    owner.close();
  });

  test('because another server has it leaves that one alone', async () => {
    const file = join(folder.path, 'small');
    await writeFile(file, 'content');
    const { port } = await startServe([file]);
    expect((await failingServe([big, '--host', '127.0.0.1', '--port', String(port)])).exitCode).toBe(4);
    expect((await runCli(['get', `127.0.0.1:${port}`, '-o', '/dev/null'])).exitCode).toBe(0);
  });

  test('because a server on all addresses has it says so for each single one', async () => {
    const file = join(folder.path, 'everywhere');
    await writeFile(file, 'content');
    const everywhere = startCli(['serve', file, '--json', '--port', '0']);
    const { port } = await everywhere.event('listening');
    for (const host of ['127.0.0.1', '::1', '0.0.0.0']) {
      const { exitCode, stderr } = await failingServe([file, '--host', host, '--port', String(port)]);
      expect(exitCode).toBe(4);
      expect(stderr).toContain(`port ${port} is already in use`);
    }
  });

  asRoot('because it needs permission says so', async () => {
    const file = join(folder.path, 'mine');
    await writeFile(file, 'content', { mode: 0o644 });
    const privileged = ['sysctl', '-q', '-w', 'net.ipv4.ip_unprivileged_port_start=1024'];
    const under = [
      'unshare',
      '-n',
      'sh',
      '-c',
      `${privileged.join(' ')}; exec ${NOBODY.join(' ')} "$0" "$@"`,
    ];
    await chmod(folder.path, 0o755);
    const { exitCode, stderr } = await failingServe([file, '--port', '80'], under);
    expect(exitCode).toBe(4);
    expect(stderr).toMatch(/cannot listen on port 80: permission denied/);
  });

  test.each([
    ['203.0.113.7', 'this machine does not have that address'],
    ['no-such-host.invalid', 'does not resolve'],
  ])('because --host %s is not here says so', async (host, said) => {
    const { exitCode, stderr } = await failingServe([big, '--host', host]);
    expect(exitCode).toBe(4);
    expect(stderr).toContain(said);
  });
});
