import { spawnSync } from 'node:child_process';
import { mkdir, symlink, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { WireBoundError } from '#dist/core/errors.js';
import { openRegularFile } from '#dist/plugins/sources/open-regular-file.js';
import type { RegularFile } from '#dist/plugins/sources/regular-file.js';
import { withTempFolder } from '../../../support/temp-folder.js';

async function failure(reference: string): Promise<WireBoundError> {
  let file: RegularFile;
  try {
    file = await openRegularFile(reference, {});
  } catch (error) {
    return error as WireBoundError;
  }
  await file.close();
  throw new Error(`${reference} was opened`);
}

test('a file is announced by the last part of its resolved path, or by the name that was asked for', () =>
  withTempFolder(async (folder) => {
    await mkdir(join(folder, 'sub'));
    await writeFile(join(folder, 'f.bin'), 'content', { mode: 0o755 });
    const file = await openRegularFile(`${folder}/sub/../f.bin`, {});
    expect(file).toMatchObject({ name: 'f.bin', size: 7, executable: true });
    await file.close();
    const renamed = await openRegularFile(join(folder, 'f.bin'), { name: 'other' });
    expect(renamed.name).toBe('other');
    await renamed.close();
  }));

test.each(['nope', 'nope/', '', 'with\u0000nul'])(
  'what does not exist is SOURCE_NOT_FOUND: %j',
  async (name) => {
    const error = await failure(name);
    expect(error.code).toBe('SOURCE_NOT_FOUND');
    expect(error.message).toBe(`${JSON.stringify(name)} does not exist`);
  },
);

test('a path is quoted with every control character escaped', async () => {
  const { message } = await failure('a\u001b]0;x\u0007\n\u009b\u202eb');
  expect(message).toBe('"a\\u001b]0;x\\u0007\\n\\u009b\\u202eb" does not exist');
});

test('a folder is refused with the command that serves it', () =>
  withTempFolder(async (folder) => {
    const path = join(folder, 'photos');
    await mkdir(path);
    for (const reference of [path, `${path}/`]) {
      const error = await failure(reference);
      expect(error.code).toBe('SOURCE_NOT_REGULAR');
      expect(error.suggestions).toEqual([`tar c ${path} | wirebound serve - --name photos.tar`]);
    }
    await mkdir(join(folder, "it's new"));
    expect((await failure(join(folder, "it's new"))).suggestions).toEqual([
      `tar c '${folder}/it'\\''s new' | wirebound serve - --name 'it'\\''s new'.tar`,
    ]);
  }));

test('a pipe is refused at once, and nobody has to write to it', () =>
  withTempFolder(async (folder) => {
    const path = join(folder, 'p');
    expect(spawnSync('mkfifo', [path]).status).toBe(0);
    const error = await failure(path);
    expect(error.code).toBe('SOURCE_NOT_REGULAR');
    expect(error.message).toBe(`${JSON.stringify(path)} is a pipe, not a regular file`);
    expect(error.suggestions[0]).toContain(`cat ${path} | wirebound serve -`);
  }));

test('devices, sockets and loops of links are refused', () =>
  withTempFolder(async (folder) => {
    expect((await failure('/dev/zero')).message).toBe('"/dev/zero" is a device, not a regular file');
    await symlink('loop', join(folder, 'loop'));
    expect((await failure(join(folder, 'loop'))).code).toBe('SOURCE_NOT_REGULAR');
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(folder, 's'), resolve));
    expect((await failure(join(folder, 's'))).message).toContain('is a socket');
    await new Promise((resolve) => server.close(resolve));
  }));

const onLinux = process.platform === 'linux' ? test : test.skip;
onLinux.each(['/proc/version', '/proc/self/mem', '/sys/kernel/mm/transparent_hugepage/enabled'])(
  'a file that the kernel makes up is never served as what it claims to be: %s',
  async (path) => {
    expect(await failure(path)).toMatchObject({ code: 'SOURCE_NOT_REGULAR' });
  },
);

test('empty files, sparse files and links to files are as good as any', () =>
  withTempFolder(async (folder) => {
    await writeFile(join(folder, 'empty'), '');
    await writeFile(join(folder, 'sparse'), '');
    await truncate(join(folder, 'sparse'), 5 * 2 ** 30);
    await symlink('sparse', join(folder, 'link'));
    for (const [name, size] of Object.entries({ empty: 0, sparse: 5 * 2 ** 30, link: 5 * 2 ** 30 })) {
      const file = await openRegularFile(join(folder, name), {});
      expect(file).toMatchObject({ name, size, executable: false });
      await file.close();
    }
  }));

test('a file that this user may not read is SOURCE_UNREADABLE', () =>
  withTempFolder(async (folder) => {
    const path = join(folder, 'secret');
    await writeFile(path, 'x', { mode: 0 });
    const root = process.getuid?.() === 0;
    if (root) process.seteuid?.(65_534);
    try {
      const error = await failure(path);
      expect(error.code).toBe('SOURCE_UNREADABLE');
      expect(error.message).toBe(`${JSON.stringify(path)} may not be read by this user (EACCES)`);
    } finally {
      if (root) process.seteuid?.(0);
    }
  }));

test('growth is not read, a cut is a short read, and both change the identity', () =>
  withTempFolder(async (folder) => {
    const path = join(folder, 'f');
    await writeFile(path, 'content');
    const file = await openRegularFile(path, {});
    const before = await file.identity();
    await writeFile(path, 'content and more');
    const into = new Uint8Array(20);
    expect(await file.read(0, into)).toBe(7);
    const grown = await file.identity();
    expect(grown.size).toBe(16);
    await truncate(path, 3);
    expect(await file.read(0, into)).toBe(3);
    expect(new Set([before.key, grown.key, (await file.identity()).key]).size).toBe(3);
    await file.close();
  }));

test('a read that fails names the path, the byte and the system error', () =>
  withTempFolder(async (folder) => {
    const path = join(folder, 'f');
    await writeFile(path, 'content');
    const file = await openRegularFile(path, {});
    await file.close();
    await expect(file.read(5, new Uint8Array(1))).rejects.toMatchObject({
      code: 'SOURCE_UNREADABLE',
      message: `${JSON.stringify(path)} cannot be read at byte 5 (EBADF)`,
    });
  }));
