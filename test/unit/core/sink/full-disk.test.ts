import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { openFileSink } from '#dist/core/sink/file-sink.js';
import { runModule } from '../../../support/run-module.js';
import { withTempFolder } from '../../../support/temp-folder.js';

const MIB = 2 ** 20;
const canMount = process.platform === 'linux' && process.getuid?.() === 0;
/** Needs to mount small file systems: root on Linux only. */
const onSmallDisks = canMount ? describe : describe.skip;

async function withDisk(type: string, options: string, use: (disk: string) => Promise<void>): Promise<void> {
  await withTempFolder(async (folder) => {
    const disk = join(folder, 'disk');
    await mkdir(disk);
    execFileSync('mount', ['-t', type, '-o', options, 'none', disk]);
    try {
      await use(disk);
    } finally {
      execFileSync('umount', [disk]);
    }
  });
}

onSmallDisks('on a small disk (which only root can mount, on Linux)', () => {
  test('too large a file is refused before its first byte', async () => {
    await withDisk('tmpfs', 'size=1m', async (disk) => {
      const message = `not enough room in ${disk}: ${2 * MIB} bytes are needed, ${MIB} are available`;
      const opening = openFileSink(join(disk, 'x'), { size: 2 * MIB, force: false });
      await expect(opening).rejects.toMatchObject({ code: 'SINK_FULL', message });
      expect(await readdir(disk)).toEqual([]);
    });
  });

  test('what a partial holds already needs no room again', async () => {
    await withDisk('tmpfs', 'size=1m', async (disk) => {
      await writeFile(join(disk, 'x.wirebound'), Buffer.alloc(MIB - 65536));
      const sink = await openFileSink(join(disk, 'x'), { size: MIB, force: false });
      await sink.discard();
    });
  });

  test('an old copy survives when there is no room for both', async () => {
    await withDisk('tmpfs', 'size=1m', async (disk) => {
      const old = Buffer.alloc(700_000, 1);
      await writeFile(join(disk, 'x'), old);
      const opening = openFileSink(join(disk, 'x'), { size: 700_000, force: true });
      await expect(opening).rejects.toMatchObject({ code: 'SINK_FULL' });
      expect(old.equals(await readFile(join(disk, 'x')))).toBe(true);
    });
  });

  test('room that runs out in the middle is told with the path and the reason', async () => {
    await withDisk('tmpfs', 'size=1m', async (disk) => {
      const sink = await openFileSink(join(disk, 'x'), { size: MIB, force: false });
      await writeFile(join(disk, 'other'), Buffer.alloc(MIB / 2));
      const message = `cannot write byte 0 of ${MIB} to ${disk}/x.wirebound: no space left on device (ENOSPC)`;
      const writing = sink.write(
        [Buffer.alloc(MIB / 4), Buffer.alloc(MIB / 4 + 1), Buffer.alloc(MIB / 4)],
        0,
      );
      await expect(writing).rejects.toMatchObject({ code: 'SINK_FULL', message });
      await sink.discard();
      expect((await readdir(disk)).sort()).toEqual(['other', 'x.wirebound']);
    });
  });

  test('a file system that does not know its room is given a try', async () => {
    await withDisk('ramfs', 'mode=755', async (disk) => {
      const sink = await openFileSink(join(disk, 'x'), { size: 3, force: false });
      await sink.write([Buffer.from('abc')], 0);
      await sink.commit();
      expect(await readFile(join(disk, 'x'), 'utf8')).toBe('abc');
    });
  });

  test('standard output that is a file on it loses nothing silently', async () => {
    await withDisk('tmpfs', 'size=64k', async (disk) => {
      const code = `
        import { StdoutSink } from '#dist/core/sink/stdout-sink.js';
        await new StdoutSink(process.stdout).write([Buffer.alloc(100000)]).catch((e) => console.error(e.code, e.message));
      `;
      const shell = ['sh', '-c', `exec "$@" > ${disk}/x`, 'sh'];
      const { stderr } = await runModule(code, [], shell).finished;
      expect(stderr).toBe('SINK_FULL cannot write to standard output: no space left on device (ENOSPC)\n');
    });
  });
});
