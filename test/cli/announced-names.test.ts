import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { encodeFrame } from '#dist/core/framing/encode-frame.js';
import { encodeError } from '#dist/core/framing/messages.js';
import { getFrom, openLocalServer } from '../support/local-server.js';
import { runCli } from '../support/run-cli.js';
import {
  openScriptedServer,
  ScriptedContent,
  type ScriptedServer,
  serveContent,
  welcome,
} from '../support/scripted-peer.js';
import { makeTempFolder } from '../support/temp-folder.js';

const BYTES = Buffer.from('some content');
const SHA256 = createHash('sha256').update(BYTES).digest('hex');
// biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may reach the terminal
const CONTROL = /[\x00-\x09\x0b-\x1f\x7f-\x9f]/;

let from: Awaited<ReturnType<typeof makeTempFolder>>;
let here: Awaited<ReturnType<typeof makeTempFolder>>;
let server: ScriptedServer | undefined;
beforeEach(async () => {
  from = await makeTempFolder();
  here = await makeTempFolder();
});
afterEach(async () => {
  await server?.close();
  server = undefined;
  await from.remove();
  await here.remove();
});

/** Gets, without -o, what a server of its own kind announces under `name`. */
async function getAnnounced(name: string, ...flags: string[]) {
  const served = new ScriptedContent(BYTES);
  const manifest = served.manifest({ entry: { path: name } });
  server = await openScriptedServer(async (peer) => void (await serveContent(peer, served, { manifest })));
  return runCli(['get', `127.0.0.1:${server.port}`, ...flags], { cwd: here.path });
}

describe('a name that is legal here', () => {
  test.each([
    'a:b|c?.txt',
    '<cool>.txt',
    'CON',
    'nul.whatever.txt',
    'trailing.',
    'trailing ',
    '-rf',
    '--help',
    ' lead',
    'quote"\'.txt',
    '$(touch x).txt',
    '100%.txt',
    '_index_slash_ssl.html',
    'a..b',
    '...x',
    '.ssh',
    'a\u0302.txt',
    '\u00e2.txt',
    `${'\u00e9'.repeat(127)}a`,
    `${'\u6f22'.repeat(84)}abc`,
    'a'.repeat(255),
    `${'b'.repeat(251)}.iso`,
  ])('%j arrives as it is', async (name) => {
    await writeFile(join(from.path, name), BYTES);
    const local = await openLocalServer(join(from.path, name));
    const result = await getFrom(local.port, `${here.path}/`);
    expect(result).toMatchObject({ result: 'PASS', sha256: SHA256, path: join(here.path, name) });
    expect(await readdir(here.path, 'buffer')).toEqual([Buffer.from(name)]);
  });

  test('with control characters is served, shown escaped, and received cleaned', async () => {
    const evil = 'a\x1b[1A\r\n\x08b\u009b31m.txt';
    await writeFile(join(from.path, evil), BYTES);
    const local = await openLocalServer(join(from.path, evil));
    const { exitCode, stderr } = await runCli(['get', `127.0.0.1:${local.port}`], { cwd: here.path });
    expect(exitCode).toBe(0);
    expect(stderr).not.toMatch(CONTROL);
    expect(stderr).toContain('a\\x1b[1A\\x0d\\x0a\\x08b\\x9b31m.txt');
    const [name = ''] = await readdir(here.path);
    expect(name).not.toMatch(CONTROL);
    expect(BYTES.equals(await readFile(join(here.path, name)))).toBe(true);
  });
});

describe('a name from a hostile server', () => {
  test.each([
    '../x',
    '../../../../tmp/wb_pwn',
    '/tmp/wb_pwn',
    'a/b',
    'a/../../x',
    '..',
    '.',
    '',
    'x/',
    ' ',
    'file:///etc/passwd',
    '~/x',
  ])('%j is refused, shown escaped, and nothing is made', async (name) => {
    const { exitCode, stderr } = await getAnnounced(name);
    expect(exitCode).toBe(8);
    expect(stderr).toMatch(/^wirebound: the name the server announced, /);
    expect(stderr).toContain('-o FILE');
    expect(await readdir(here.path)).toEqual([]);
  });

  test.each([
    ['x\0.txt', 'x_.txt'],
    ['\x1b[1A\rharmless', '_[1A_harmless'],
    ['\x1b]0;pwn\x07', '_]0;pwn_'],
    ['\x9b31m', '_31m'],
    ['..\\x', '..\\x'],
    ['C:\\x', 'C:\\x'],
  ])('%j becomes one harmless component', async (name, cleaned) => {
    const { exitCode, stderr } = await getAnnounced(name);
    expect(exitCode).toBe(0);
    expect(stderr).not.toMatch(CONTROL);
    expect(await readdir(here.path)).toEqual([cleaned]);
  });

  test.each([256, 4096])('of %d bytes is shortened to what the file system takes', async (length) => {
    const { exitCode } = await getAnnounced(`${'x'.repeat(length - 4)}.iso`);
    expect(exitCode).toBe(0);
    expect(await readdir(here.path)).toEqual([`${'x'.repeat(251)}.iso`]);
  });

  test('of 70000 bytes is not even read', async () => {
    const { exitCode, stderr } = await getAnnounced('x'.repeat(70_000));
    expect(exitCode).toBe(5);
    expect(stderr).toMatch(/^wirebound: 127\.0\.0\.1:\d+.*limit is 65536/);
    expect(await readdir(here.path)).toEqual([]);
  });

  test('does not matter with -o FILE', async () => {
    expect((await getAnnounced('../../x', '-o', 'mine')).exitCode).toBe(0);
    expect(await readdir(here.path)).toEqual(['mine']);
  });
});

test('an error text from a hostile server reaches neither terminal nor program unescaped', async () => {
  const message = '\x1b[2J\rPASS\x07\u009b31m\u202egnp';
  for (const flags of [[], ['--json']]) {
    server = await openScriptedServer(async (peer) => {
      await welcome(peer, new ScriptedContent(BYTES).manifest());
      await peer.frame('get');
      await peer.send(encodeFrame('error', encodeError({ code: 'INTERNAL', message })));
    });
    const args = ['get', `127.0.0.1:${server.port}`, '-o', '/dev/null', ...flags];
    const { exitCode, stdout, stderr } = await runCli(args);
    expect(exitCode).toBe(1);
    expect(stdout.toString() + stderr).not.toMatch(CONTROL);
    expect(stdout.toString() + stderr).toContain('[2J');
    await server.close();
  }
});
