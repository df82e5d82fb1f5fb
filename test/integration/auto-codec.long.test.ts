import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { GetResult } from '#dist/core/client/get-event.js';
import type { ServeSummary } from '#dist/core/server/serve-event.js';
import { type LinkLimit, linkLimit, TestNetwork } from '../../benchmark/support/test-network.js';
import { writeContentFile } from '../support/random-file.js';
import { startCli } from '../support/run-cli.js';
import { makeTempFolder } from '../support/temp-folder.js';

const MIB = 2 ** 20;
const obstacle = TestNetwork.obstacle();
const describeNetwork = obstacle === undefined ? describe : describe.skip;

let temp: Awaited<ReturnType<typeof makeTempFolder>>;
let log: string;
let random: string;
beforeAll(async () => {
  temp = await makeTempFolder();
  log = join(temp.path, 'access.log');
  random = join(temp.path, 'random.bin');
  await writeContentFile(log, 'log', 96 * MIB);
  await writeContentFile(random, 'random', 32 * MIB);
});
afterAll(() => temp.remove());

describeNetwork(
  `--codec auto, over links of their own${obstacle === undefined ? '' : ` (${obstacle})`}`,
  () => {
    let network: TestNetwork;
    beforeEach(() => {
      network = new TestNetwork(1);
    });
    afterEach(() => network.close());

    test('text over 64 Mbit/s is encoded: at most a sixth of its bytes, in at most a quarter of the time', async () => {
      const raw = await transfer(log, 'none', linkLimit('64 Mbit/s'));
      const auto = await transfer(log, 'auto', linkLimit('64 Mbit/s'));
      expect(raw.result).toMatchObject({ result: 'PASS', limitedBy: 'network' });
      expect(auto.result.result).toBe('PASS');
      expect(auto.summary.bytesOnWire).toBeLessThan((await stat(log)).size / 6);
      expect(auto.result.seconds).toBeLessThan(raw.result.seconds / 4);
      const { bytesSent, payloadBytes, chunksEncoded, chunksRaw, codec } = auto.summary;
      expect(codec).toBe('auto');
      expect(bytesSent).toBe((await stat(log)).size);
      expect(bytesSent - payloadBytes).toBeGreaterThan((bytesSent * 5) / 6);
      expect(chunksEncoded).toBeGreaterThan(5 * chunksRaw);
      // What is used, and for what link: 64 Mbit/s are 8 MB/s.
      expect(auto.progress).toContainEqual(
        expect.objectContaining({
          codec: expect.stringMatching(/^(lz4|deflate)$/),
          linkRate: expect.any(Number),
        }),
      );
      // Single figures may come from a burst that the link lets through, or from a client that had to wait for its turn.
      const rates = auto.progress.flatMap(({ linkRate }) => (linkRate === undefined ? [] : [linkRate]));
      expect(Math.min(...rates)).toBeLessThan(16e6);
    });

    test('random data over 64 Mbit/s takes no more bytes than raw', async () => {
      const { result, summary } = await transfer(random, 'auto', linkLimit('64 Mbit/s'));
      expect(result).toMatchObject({ result: 'PASS', limitedBy: 'network' });
      expect(summary.chunksEncoded).toBe(0);
      expect(summary.bytesOnWire).toBeLessThan(summary.bytesSent * 1.002);
    });

    test('text over an unlimited link goes raw', async () => {
      // A client that waits for a processor cannot be told from a slow link: one of some transfers is left alone.
      const rawShares: number[] = [];
      while (rawShares.length < 5 && !rawShares.some((share) => share > 0.5)) {
        const { result, summary } = await transfer(log, 'auto', linkLimit('unlimited'));
        expect(result.result).toBe('PASS');
        rawShares.push(summary.chunksRaw / (summary.chunksRaw + summary.chunksEncoded));
      }
      expect(Math.max(...rawShares)).toBeGreaterThan(0.5);
    });

    async function transfer(file: string, codec: string, to: LinkLimit) {
      network.limit(to);
      const address = ['--host', network.serverAddress, '--port', '0'];
      const server = startCli(['serve', '--json', file, '--codec', codec, ...address, '--until', '1'], {
        under: network.onServer,
      });
      const { port } = await server.event('listening');
      await server.event('digest');
      const client = startCli(['get', '--json', `${network.serverAddress}:${port}`, '-o', '/dev/null'], {
        under: network.onClient(0),
      });
      const result = (await client.event('result', undefined, 120_000)) as unknown as GetResult;
      const summary = (await server.event('summary', undefined, 120_000)) as unknown as ServeSummary;
      const progress = server.events.filter(({ event }) =>
        event.startsWith('client.'),
      ) as unknown as readonly {
        codec?: string;
        linkRate?: number;
      }[];
      return { result, summary, progress };
    }
  },
);
