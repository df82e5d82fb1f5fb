import { spawnSync } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { runModule } from '../../../support/run-module.js';
import { withTempFolder } from '../../../support/temp-folder.js';

const hasStrace = spawnSync('strace', ['-V']).status === 0;
/** Needs strace to make system calls fail. */
const withFaults = hasStrace ? describe : describe.skip;

const SCRIPT = `
  import { writeFileSync } from 'node:fs';
  import { openFileSink } from '#dist/core/sink/file-sink.js';
  const [, target, meanwhile] = process.argv;
  const sink = await openFileSink(target, { size: 3, force: false, mtimeMs: 1e12, executable: true });
  await sink.write([Buffer.from('abc')], 0);
  if (meanwhile) writeFileSync(target, meanwhile);
  await sink.commit().then(() => console.log('published'), (error) => console.log(error.code, error.message));
  await sink.discard();
`;

function commitUnder(fault: string, target: string, meanwhile = ''): Promise<{ readonly stdout: string }> {
  const strace = ['strace', '-f', '-qq', '-o', '/dev/null', '-e', `inject=${fault}`];
  return runModule(SCRIPT, [target, meanwhile], strace).finished;
}

withFaults('commit, with faults that strace injects,', () => {
  test.each(['EPERM', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])(
    'renames where hard links do not exist (%s), and still replaces nothing',
    async (code) => {
      await withTempFolder(async (folder) => {
        const target = join(folder, 'x');
        expect((await commitUnder(`link,linkat:error=${code}`, target)).stdout).toBe('published\n');
        expect(await readdir(folder)).toEqual(['x']);
        await writeFile(join(folder, 'y'), '');
        const { stdout } = await commitUnder(`link,linkat:error=${code}`, join(folder, 'z'), 'theirs');
        expect(stdout).toBe(`SINK_EXISTS ${folder}/z already exists\n`);
        expect(await readFile(join(folder, 'z'), 'utf8')).toBe('theirs');
      });
    },
  );

  test.each(['fchmod:error=EPERM', 'utimensat:error=EPERM', 'fsync:error=EINVAL'])(
    'does without what a file system does not have: %s',
    async (fault) => {
      await withTempFolder(async (folder) => {
        expect((await commitUnder(fault, join(folder, 'x'))).stdout).toBe('published\n');
        expect(await readFile(join(folder, 'x'), 'utf8')).toBe('abc');
      });
    },
  );

  test('publishes nothing that could not be flushed', async () => {
    await withTempFolder(async (folder) => {
      const { stdout } = await commitUnder('fsync:error=EIO:when=1', join(folder, 'x'));
      expect(stdout).toBe(`SINK_FAILED cannot finish ${folder}/x.wirebound: i/o error (EIO)\n`);
      expect(await readdir(folder)).toEqual(['x.wirebound']);
    });
  });

  test('calls a full quota by its name', async () => {
    await withTempFolder(async (folder) => {
      const { stdout } = await commitUnder('fsync:error=EDQUOT:when=1', join(folder, 'x'));
      expect(stdout).toBe(`SINK_FULL cannot finish ${folder}/x.wirebound: disk quota exceeded (EDQUOT)\n`);
    });
  });

  test('killed right after the link leaves the complete file, and the partial name for the next run', async () => {
    await withTempFolder(async (folder) => {
      const target = join(folder, 'x');
      await commitUnder('unlink:signal=KILL', target);
      expect((await readdir(folder)).sort()).toEqual(['x', 'x.wirebound']);
      expect(await readFile(target, 'utf8')).toBe('abc');
    });
  });
});
