import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { expectSurvived, flipBits, fuzzHellos, fuzzServerStreams, inLanes } from '../support/fault-trials.js';
import { mixedStream } from '../support/mixed-stream.js';
import { Random } from '../support/random.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { clientOptions, openTestServer, type TestServer, testGet } from '../support/test-server.js';

let folder: Awaited<ReturnType<typeof makeTempFolder>>;
let server: TestServer;
const { content, stream } = mixedStream();

beforeAll(async () => {
  folder = await makeTempFolder();
  const source = join(folder.path, 'file.bin');
  await writeFile(source, content.bytes);
  server = await openTestServer(source, { codec: 'lz4' });
});
afterAll(async () => {
  await server.stop();
  await folder.remove();
});

describe('a connection that is cut', () => {
  test('at every third frame boundary and a byte on either side of it, and in the middle, loses nothing', async () => {
    const random = new Random(1);
    const edges = stream.boundaries.filter((_, at) => at % 3 === 0).flatMap((at) => [at - 1, at, at + 1]);
    const middles = Array.from({ length: 12 }, () => random.below(stream.bytes.length));
    const offsets = [0, 1, ...edges, ...middles];
    await inLanes(offsets.length, async (index) => {
      const cutBy = index % 2 === 0 ? 'reset' : 'end';
      const toClient = { cutAfter: offsets[index] as number, cutBy } as const;
      await expectSurvived(server.port, folder.path, content.bytes, { toClient });
    });
  });

  test('on the way to the server loses nothing either', async () => {
    await inLanes(8, async (index) => {
      const toServer = { cutAfter: 30 * index, cutBy: index % 2 === 0 ? 'reset' : 'end' } as const;
      await expectSurvived(server.port, folder.path, content.bytes, { toServer });
    });
  });

  test('or sliced into small pieces with delays in between, loses nothing', async () => {
    const toClient = { sliceBytes: 9973, delayMs: 1 };
    await expectSurvived(server.port, folder.path, content.bytes, { toClient, toServer: { sliceBytes: 1 } });
  });
});

describe('a bit that flips on the way', () => {
  test('is never accepted, wherever it is', async () => {
    const { codecs } = await clientOptions(0);
    expect(await flipBits(content, stream, codecs.slice(0, 1), 1_000, 7)).toBeGreaterThan(900);
  });

  test('makes the client ask for that chunk again (B13)', async () => {
    const random = new Random(3);
    const [, start = 0] = stream.boundaries;
    await inLanes(12, async () => {
      const toClient = { flipAt: start + random.below(stream.bytes.length - start - 8) };
      await expectSurvived(server.port, folder.path, content.bytes, { toClient });
    });
  });
});

describe('random bytes', () => {
  test('as hellos harm neither the server nor its other clients', async () => {
    await fuzzHellos(server.port, 400, 1);
    expect(await testGet(server.port)).toMatchObject({ result: 'PASS' });
    for (const event of server.events) {
      if (event.event === 'warning') expect(event.message).not.toMatch(/\p{Cc}/u);
    }
  });

  test('from a server never end as a wrong file, outside the folder, or on the terminal', async () => {
    const parent = join(folder.path, 'parent');
    const target = join(parent, 'target');
    await mkdir(target, { recursive: true });
    await fuzzServerStreams(content, stream.bytes, target, 80, 1);
    expect(await readdir(parent)).toEqual(['target']);
  });
});
