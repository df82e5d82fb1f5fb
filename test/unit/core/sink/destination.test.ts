import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { resolveDestination } from '#dist/core/sink/destination.js';
import { runModule } from '../../../support/run-module.js';
import { makeTempFolder } from '../../../support/temp-folder.js';

let folder: Awaited<ReturnType<typeof makeTempFolder>>;
let cwd: string;
beforeEach(async () => {
  folder = await makeTempFolder();
  cwd = folder.path;
  await mkdir(join(cwd, 'room'));
});
afterEach(() => folder.remove());

describe('-o means', () => {
  test.each([
    [undefined, 'a.iso'],
    ['.', 'a.iso'],
    ['room', 'room/a.iso'],
    ['room/', 'room/a.iso'],
    ['room/..', 'a.iso'],
    ['b.iso', 'b.iso'],
    ['room/b.iso', 'room/b.iso'],
  ])('%j: the file %s', async (output, path) => {
    const destination = await resolveDestination(output, 'a.iso', { cwd });
    expect(destination).toEqual({ kind: 'file', path: join(cwd, path), exists: false });
    expect(await readdir(cwd)).toEqual(['room']);
  });

  test('an absolute path does not depend on the current folder', async () => {
    const path = join(cwd, 'room/b.iso');
    expect(await resolveDestination(path, 'a.iso')).toEqual({ kind: 'file', path, exists: false });
  });

  test('a link to a folder is followed when the user names it', async () => {
    await symlink('room', join(cwd, 'link'));
    const path = join(cwd, 'link/a.iso');
    expect(await resolveDestination('link', 'a.iso', { cwd })).toMatchObject({ path });
    expect(await resolveDestination('link/a.iso', '', { cwd })).toMatchObject({ path });
  });

  test('a file that is there is told of with its size', async () => {
    await writeFile(join(cwd, 'a.iso'), 'seven b');
    expect(await resolveDestination(undefined, 'a.iso', { cwd })).toMatchObject({ exists: true, size: 7 });
  });

  test('standard output and nothing have names of their own', async () => {
    expect(await resolveDestination('-', '../x')).toEqual({ kind: 'stdout' });
    expect(await resolveDestination('/dev/null', '../x')).toEqual({ kind: 'null' });
    expect(await resolveDestination('nul', '../x', { platform: 'win32' })).toEqual({ kind: 'null' });
    expect(await resolveDestination('NUL', 'x', { cwd, platform: 'linux' })).toMatchObject({ kind: 'file' });
  });

  test('the announced name matters only inside a folder', async () => {
    expect(await resolveDestination('b.iso', '../evil', { cwd })).toMatchObject({ path: join(cwd, 'b.iso') });
    await expect(resolveDestination('room', '../evil', { cwd })).rejects.toMatchObject({
      code: 'SINK_UNSAFE',
    });
  });
});

describe('refused before anything is written:', () => {
  test.each(['', 'a\0b'])('%j, which names nothing', async (output) => {
    await expect(resolveDestination(output, 'a.iso', { cwd })).rejects.toMatchObject({ code: 'USAGE' });
  });

  test.each([
    ['nope/x', /^folder \S+nope does not exist$/],
    ['nope/', /^folder \S+nope does not exist$/],
    ['file/x', /file is not a directory$/],
    ['file/', /file is not a directory$/],
    ['file/x/y', /file\/x: not a directory \(ENOTDIR\)$/],
    [`${'a'.repeat(256)}`, /a: name too long \(ENAMETOOLONG\)$/],
  ])('%s, with the path and the reason', async (output, message) => {
    await writeFile(join(cwd, 'file'), '');
    const resolving = resolveDestination(output, 'a.iso', { cwd });
    await expect(resolving).rejects.toMatchObject({
      code: 'SINK_FAILED',
      message: expect.stringMatching(message),
    });
  });

  test('a folder that this user may not write to', async () => {
    await chmod(cwd, 0o755);
    const script = `
      import { resolveDestination } from '#dist/core/sink/destination.js';
      if (process.getuid() === 0) process.setuid(65534); else (await import('node:fs')).chmodSync(process.argv[1], 0o555);
      await resolveDestination(undefined, 'x', { cwd: process.argv[1] }).catch((e) => console.log(e.code, e.message));
    `;
    const { stdout } = await runModule(script, [join(cwd, 'room')]).finished;
    expect(stdout).toMatch(/^SINK_FAILED cannot write to folder \S+room: permission denied \(EACCES\)\n$/);
  });

  test('the current folder after it was deleted', async () => {
    const script = `
      import { mkdirSync, rmdirSync } from 'node:fs';
      import { resolveDestination } from '#dist/core/sink/destination.js';
      mkdirSync(process.argv[1]); process.chdir(process.argv[1]); rmdirSync(process.argv[1]);
      await resolveDestination(undefined, 'x').catch((e) => console.log(e.code, e.message));
      await resolveDestination('y', 'x').catch((e) => console.log(e.code, e.message));
    `;
    const { stdout } = await runModule(script, [join(cwd, 'gone')]).finished;
    expect(stdout).toMatch(/^(SINK_FAILED the current folder does not exist any more\n){2}$/);
  });

  test.each([
    ['a symbolic link', (path: string) => symlink('/nope/x', path)],
    ['a symbolic link', (path: string) => symlink('../file', path)],
    ['a folder', (path: string) => mkdir(path)],
    ['a named pipe', (path: string) => execFileSync('mkfifo', [path])],
  ])('%s at the target', async (kind, plant) => {
    await plant(join(cwd, 'room/a.iso'));
    const message = `${join(cwd, 'room/a.iso')} exists and is ${kind}`;
    const resolving = resolveDestination('room', 'a.iso', { cwd });
    await expect(resolving).rejects.toMatchObject({ code: 'SINK_UNSAFE', message });
  });

  test('a socket and a device at the target', async () => {
    const server = createServer().listen(join(cwd, 'socket'));
    await once(server, 'listening');
    try {
      await expect(resolveDestination('socket', '', { cwd })).rejects.toMatchObject({ code: 'SINK_UNSAFE' });
    } finally {
      server.close();
    }
    await expect(resolveDestination('/dev/zero', '')).rejects.toMatchObject({ code: 'SINK_UNSAFE' });
  });
});
