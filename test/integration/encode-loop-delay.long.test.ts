import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { LoopDelayWatch } from '../../benchmark/support/loop-delay-watch.js';
import { writeContentFile } from '../support/random-file.js';
import { runCli, startServe } from '../support/run-cli.js';
import { withTempFolder } from '../support/temp-folder.js';

/** Far above the target of 20 ms, which the benchmark holds on a quiet machine: nine processes share a few cores here. */
const MOST_MS = 200;

test('a server that encodes for eight clients at once keeps its event loop free', async () => {
  await withTempFolder(async (folder) => {
    const file = join(folder, 'access.log');
    await writeContentFile(file, 'log', 128 * 2 ** 20);
    const watch = new LoopDelayWatch(folder, 'server');
    const { cli, port } = await startServe([file, '--codec', 'lz4'], { env: watch.env });
    await cli.event('digest');
    const pid = cli.child.pid as number;
    watch.start(pid);
    const clients = Array.from({ length: 8 }, () => runCli(['get', `127.0.0.1:${port}`, '-o', '/dev/null']));
    for (const { exitCode } of await Promise.all(clients)) expect(exitCode).toBe(0);
    const delay = await watch.stop(pid);
    cli.kill('SIGINT');
    expect(await cli.event('summary')).toMatchObject({ verified: 8, chunksRaw: 0 });
    expect(delay.p999).toBeLessThan(MOST_MS);
    console.info('event-loop delay while encoding for 8 clients, ms:', delay);
  });
});
