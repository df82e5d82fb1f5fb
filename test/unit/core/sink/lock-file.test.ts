import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, symlink, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { takeLockFile } from '#dist/core/sink/lock-file.js';
import { processStart } from '#dist/core/sink/process-start.js';
import { runModule } from '../../../support/run-module.js';
import { makeTempFolder } from '../../../support/temp-folder.js';

let folder: Awaited<ReturnType<typeof makeTempFolder>>;
let path: string;
beforeEach(async () => {
  folder = await makeTempFolder();
  path = join(folder.path, 'x.lock');
});
afterEach(() => folder.remove());

const onLinux = process.platform === 'linux' ? test : test.skip;

test('only one holds it at a time, and it leaves nothing behind', async () => {
  const unlock = await takeLockFile(path);
  expect(await takeLockFile(path)).toBeUndefined();
  await unlock?.();
  const again = await takeLockFile(path);
  expect(again).toBeDefined();
  await again?.();
  expect(await readdir(folder.path)).toEqual([]);
});

test.each([
  ['of a dead process', async () => `${await deadPid()} 1 ${hostname()}\n`],
  ['that a crash left empty', async () => ''],
])('of many that find the same lock %s exactly one takes it over', async (_, claim) => {
  await writeFile(path, await claim());
  await utimes(path, 1, 1);
  const taken = await Promise.all(Array.from({ length: 20 }, () => takeLockFile(path)));
  expect(taken.filter((unlock) => unlock !== undefined)).toHaveLength(1);
  expect(await readdir(folder.path)).toEqual(['x.lock']);
});

test('a take-over that was cut short in the middle does not block the next one', async () => {
  const stale = `${await deadPid()} 1 ${hostname()}\n`;
  const digest = createHash('sha256').update(`${path}\0${stale}`).digest('hex').slice(0, 16);
  await writeFile(path, stale);
  await writeFile(join(folder.path, `.wirebound-${digest}`), stale);
  expect(await takeLockFile(path)).toBeDefined();
  expect(await readdir(folder.path)).toEqual(['x.lock']);
});

onLinux('a pid that was given to another process since does not hold it', async () => {
  await writeFile(path, `${process.pid} 1 ${hostname()}\n`);
  expect(await takeLockFile(path)).toBeDefined();
  expect(await readFile(path, 'utf8')).toBe(
    `${process.pid} ${await processStart(process.pid)} ${hostname()}\n`,
  );
});

test('a living process whose start time nobody knows holds it', async () => {
  await writeFile(path, `${process.pid} - ${hostname()}\n`);
  expect(await takeLockFile(path)).toBeUndefined();
});

test('a process of another host counts as alive', async () => {
  await writeFile(path, '1 1 elsewhere.example\n');
  expect(await takeLockFile(path)).toBeUndefined();
});

test.each(['', 'x', '0 1 host\n', '-1 1 host\n', '99999999999 1 host\n', '1'])(
  'an incomplete claim (%j) holds while its owner may still be writing it, and not for ever',
  async (text) => {
    await writeFile(path, text);
    expect(await takeLockFile(path)).toBeUndefined();
    await utimes(path, 1, 1);
    expect(await takeLockFile(path)).toBeDefined();
  },
);

test('anything but a regular file is refused', async () => {
  await symlink('/nope', path);
  await expect(takeLockFile(path)).rejects.toMatchObject({ code: 'SINK_UNSAFE' });
  await mkdir(`${path}2`);
  await expect(takeLockFile(`${path}2`)).rejects.toMatchObject({ code: 'SINK_UNSAFE' });
});

onLinux('the start time is the one that the kernel tells', async () => {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ');
  expect(await processStart(process.pid)).toBe(fields?.[19]);
  expect(await processStart(1)).toMatch(/^\d+$/);
});

async function deadPid(): Promise<number> {
  const { pid, finished } = runModule('');
  await finished;
  return pid;
}
