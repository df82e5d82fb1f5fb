import { execFileSync } from 'node:child_process';
import { chmod, chown, link, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openFileSink } from '#dist/core/sink/file-sink.js';
import { openPartial } from '#dist/core/sink/open-partial.js';
import { removePublishedPartial } from '#dist/core/sink/remove-published-partial.js';
import { runModule, WITHOUT_KOFFI } from '../../../support/run-module.js';
import { makeTempFolder } from '../../../support/temp-folder.js';

let folder: Awaited<ReturnType<typeof makeTempFolder>>;
let target: string;
let partial: string;
let victim: string;
beforeEach(async () => {
  folder = await makeTempFolder();
  target = join(folder.path, 'build.iso');
  partial = `${target}.wirebound`;
  victim = join(folder.path, 'victim');
  await writeFile(victim, 'victim');
});
afterEach(() => folder.remove());

const asRoot = process.getuid?.() === 0 ? test : test.skip;
const open = () => openFileSink(target, { size: 10, force: true });

/** A process that opens the partial, says so, and holds it until it is ended. */
const HOLDER = `
  const { openFileSink } = await import('#dist/core/sink/file-sink.js');
  const sink = await openFileSink(process.argv[1], { size: 10, force: true });
  await sink.write([Buffer.from('half')], 0);
  console.log('holding');
  setInterval(() => {}, 1000);
`;
/** A process that tries to open it once. */
const RIVAL = `
  const { openFileSink } = await import('#dist/core/sink/file-sink.js');
  try {
    const sink = await openFileSink(process.argv[1], { size: 10, force: true });
    console.log('opened', sink.partialSize);
    await sink.discard();
  } catch (error) { console.log(error.code, error.message, error.suggestions.join('; ')); }
`;

describe('what is planted under the partial name is refused and left alone:', () => {
  test.each([
    ['a symbolic link', () => symlink(victim, partial), 'is not a regular file'],
    ['a dangling link', () => symlink('/nope/x', partial), 'is not a regular file'],
    ['a hard link', () => link(victim, partial), 'has another name (a hard link)'],
    ['a named pipe', async () => execFileSync('mkfifo', [partial]), 'is not a regular file'],
    ['a folder', () => mkdir(partial), 'is not a regular file'],
  ])('%s', async (_, plant, reason) => {
    await plant();
    const opening = open();
    await expect(opening).rejects.toMatchObject({
      code: 'SINK_UNSAFE',
      message: `${partial} ${reason}, so it is not written to`,
      suggestions: [`remove ${partial} or choose another -o`],
    });
    expect(await readFile(victim, 'utf8')).toBe('victim');
    expect((await readdir(folder.path)).sort()).toEqual(['build.iso.wirebound', 'victim']);
  });

  asRoot("another user's file, unless that user owns the folder", async () => {
    await writeFile(partial, '');
    await chown(partial, 65534, 65534);
    await expect(open()).rejects.toMatchObject({ code: 'SINK_UNSAFE', message: /belongs to another user/ });
    await chown(folder.path, 65534, 65534);
    await (await open()).discard();
  });

  asRoot('a file that this user may not write, which is named', async () => {
    await writeFile(partial, 'of root');
    await chmod(folder.path, 0o777);
    const code = `${RIVAL.replace('try {', 'process.setuid(65534); try {')}`;
    const { stdout } = await runModule(code, [target]).finished;
    expect(stdout).toContain(
      `SINK_FAILED cannot open ${partial}: permission denied (EACCES) remove ${partial}`,
    );
  });
});

describe.each([
  ['by the kernel', ''],
  ['through a lock file, where koffi is missing', WITHOUT_KOFFI],
])('a partial is locked %s:', (_, prelude) => {
  test('a second get is told that it is in use, and goes on after the first was killed', async () => {
    const holder = runModule(prelude + HOLDER, [target]);
    try {
      await holder.waitFor('holding');
      const refused = await runModule(prelude + RIVAL, [target]).finished;
      expect(refused.stdout).toContain(`SINK_IN_USE another wirebound get is writing ${target} `);
      expect(refused.stdout.includes(`remove ${partial}.lock`)).toBe(prelude !== '');
      expect(await readFile(partial, 'utf8')).toBe('half');
    } finally {
      await holder.end('SIGKILL');
    }
    const next = await runModule(prelude + RIVAL, [target]).finished;
    expect(next.stdout).toBe('opened 4\n');
    expect((await readdir(folder.path)).sort()).toEqual(['build.iso.wirebound', 'victim']);
  });

  test('of many that start at once exactly one writes at a time, and all published files are whole', async () => {
    const code = `${prelude}
      const { openFileSink } = await import('#dist/core/sink/file-sink.js');
      const letter = process.argv[2];
      try {
        const sink = await openFileSink(process.argv[1], { size: 200000, force: false });
        for (let at = 0; at < 200000; at += 1000) await sink.write([Buffer.alloc(1000, letter)], at);
        await sink.commit();
        console.log('published', letter);
      } catch (error) { console.log(error.code); }
    `;
    const runs = await Promise.all(
      ['a', 'b', 'c', 'd'].map((letter) => runModule(code, [target, letter]).finished),
    );
    const said = runs.map(({ stdout }) => stdout.trim());
    const [winner = '', ...more] = said.filter((line) => line.startsWith('published'));
    expect(more).toEqual([]);
    expect(await readFile(target, 'utf8')).toBe(winner.slice(-1).repeat(200_000));
    for (const line of said) expect(['SINK_IN_USE', 'SINK_EXISTS', winner]).toContain(line);
    expect((await readdir(folder.path)).filter((name) => name.includes('.lock'))).toEqual([]);
  });
});

test('two sinks of one process exclude each other too', async () => {
  const sink = await open();
  await expect(open()).rejects.toMatchObject({ code: 'SINK_IN_USE' });
  await sink.discard();
  await (await open()).discard();
});

describe('after a get was killed between publishing and removing the partial name', () => {
  beforeEach(async () => {
    await writeFile(target, 'published!');
    await link(target, partial);
  });

  test('the next get starts a new partial and leaves the published file alone', async () => {
    const opened = await openPartial(target);
    expect(opened.size).toBe(0);
    await opened.handle.write('new');
    await opened.handle.close();
    expect(await readFile(target, 'utf8')).toBe('published!');
  });

  test('without force it exists, and nothing is left beside it', async () => {
    const opening = openFileSink(target, { size: 10, force: false });
    await expect(opening).rejects.toMatchObject({ code: 'SINK_EXISTS' });
    expect((await readdir(folder.path)).sort()).toEqual(['build.iso', 'victim']);
  });

  test('a get that finds the file complete can tidy up', async () => {
    await removePublishedPartial(target);
    expect((await readdir(folder.path)).sort()).toEqual(['build.iso', 'victim']);
    expect(await readFile(target, 'utf8')).toBe('published!');
  });
});

test('tidying up leaves a partial that is a file of its own', async () => {
  await writeFile(target, 'published!');
  await writeFile(partial, 'half');
  await link(target, join(folder.path, 'backup'));
  await removePublishedPartial(target);
  expect(await readFile(partial, 'utf8')).toBe('half');
  await rm(target);
  await expect(removePublishedPartial(target)).rejects.toMatchObject({ code: 'SINK_FAILED' });
});
