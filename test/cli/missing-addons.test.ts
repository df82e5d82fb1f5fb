import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { content } from '../support/content.js';
import { runCli, startServe } from '../support/run-cli.js';
import { withTempFolder } from '../support/temp-folder.js';

const PRELOAD = new URL('../support/without-addons.js', import.meta.url).href;
const env = { NODE_OPTIONS: `--import=${PRELOAD}` };

test('without any native package a file is served by reading it, got, and verified (B20)', async () => {
  await withTempFolder(async (folder) => {
    const source = join(folder, 'file.bin');
    await writeFile(source, content('log', 1_000_000));
    const { cli, port } = await startServe([source], { env });
    expect((await cli.event('listening')).source).toMatch(/^file\b/);
    const { exitCode, stderr } = await runCli(['get', `127.0.0.1:${port}`, '-o', join(folder, 'out')], {
      env,
    });
    expect(exitCode).toBe(0);
    expect(stderr).not.toMatch(/warning|not installed/i);
  });
});

test('without any native package the help works, and what is missing is named where it is asked for (B20)', async () => {
  await withTempFolder(async (folder) => {
    const source = join(folder, 'file.bin');
    await writeFile(source, 'x');
    expect(await runCli(['--help'], { env })).toMatchObject({ exitCode: 0, stderr: '' });
    const mapped = await runCli(['serve', source, '--source', 'mmap', '--port', '0'], { env });
    expect(mapped.exitCode).toBe(3);
    expect(mapped.stderr).toMatch(/koffi|mmap-io/);
    const packed = await runCli(['serve', source, '--codec', 'lz4', '--port', '0'], { env });
    expect(packed.exitCode).toBe(7);
    expect(packed.stderr).toMatch(/lz4-napi/);
  });
});
