import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { content } from '../support/content.js';
import { RawClient } from '../support/raw-client.js';
import { runCli, startCli, startServe } from '../support/run-cli.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { ThrottlingProxy } from '../support/throttling-proxy.js';

/** So small that all of it is in the kernel before anyone has looked at it. */
const BYTES = content('random', 1024 * 1024);
const SHA256 = createHash('sha256').update(BYTES).digest('hex');

let folder: Awaited<ReturnType<typeof makeTempFolder>>;
let file: string;
beforeAll(async () => {
  folder = await makeTempFolder();
  file = join(folder.path, 'served.bin');
  await writeFile(file, BYTES);
});
afterAll(() => folder.remove());

test('a server counts as verified who said so, and nobody else', async () => {
  const { cli, port } = await startServe([file]);
  const proxy = await ThrottlingProxy.open(port, () => ({ toClient: { flipAt: 100_000 } }));
  const address = `127.0.0.1:${port}`;
  const finishedAs = (client: unknown) => cli.event('client.finished', (event) => event.client === client);

  expect((await runCli(['get', address, '-o', '/dev/null'])).exitCode).toBe(0);
  expect(await finishedAs(1)).toMatchObject({ verified: true, bytes: BYTES.length });

  const full = ['sh', '-c', 'exec "$0" "$@" >/dev/full'];
  const noRoom = await runCli(['get', address, '-o', '-'], { under: full });
  expect(noRoom.exitCode).toBe(8);
  expect(noRoom.stderr).toMatch(/^FAIL {5}served\.bin: .*no space/im);
  expect(await finishedAs(2)).toMatchObject({ verified: false, code: 'SINK_FULL' });

  const flipped = await runCli(['get', `127.0.0.1:${proxy.port}`, '-o', join(folder.path, 'flipped')]);
  expect(flipped.exitCode).toBe(6);
  expect(flipped.stderr).toMatch(/^FAIL/m);
  expect(await finishedAs(3)).toMatchObject({ verified: false, code: 'DIGEST_MISMATCH' });
  await proxy.close();

  // Everything sent and End too, but never a verdict.
  const { client } = await RawClient.greet(port);
  client.get(0, BYTES.length / (256 * 1024));
  await client.next('end');
  client.reset();
  const killed = startCli(['get', address, '-o', '-'], { under: ['sh', '-c', '"$0" "$@" | sleep 60'] });
  await cli.event('client.connected', (event) => event.client === 5);
  killed.kill('SIGKILL');
  // A run that says nothing may come back for a while.
  expect(await finishedAs(4)).toMatchObject({ verified: false, code: 'CONNECTION_LOST' });
  expect(await finishedAs(5)).toMatchObject({ verified: false, code: 'CONNECTION_LOST' });

  cli.kill('SIGINT');
  expect((await cli.finished).exitCode).toBe(0);
  expect(await cli.event('summary')).toMatchObject({ verified: 1, failed: 4, sha256: SHA256 });
});
