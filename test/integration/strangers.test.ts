import { createHash, randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { get as httpGet } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { encodePreamble } from '#dist/core/framing/encode-frame.js';
import { content } from '../support/content.js';
import { anonymousMemory } from '../support/process-memory.js';
import { RawClient } from '../support/raw-client.js';
import { runCli, startServe } from '../support/run-cli.js';
import { makeTempFolder } from '../support/temp-folder.js';

const MIB = 1024 * 1024;
const BYTES = content('random', 16 * MIB);
const SHA256 = createHash('sha256').update(BYTES).digest('hex');
const CHUNKS = BYTES.length / (256 * 1024);

type Server = Awaited<ReturnType<typeof startServe>>;
let folder: Awaited<ReturnType<typeof makeTempFolder>>;
let file: string;
let server: Server;
beforeAll(async () => {
  folder = await makeTempFolder();
  file = join(folder.path, 'served.bin');
  await writeFile(file, BYTES);
  server = await startServe([file]);
  await server.cli.event('digest');
});
afterAll(() => folder.remove());

/** A normal get; it must verify whatever strangers do. */
async function good(port = server.port): Promise<void> {
  const { exitCode, stdout } = await runCli(['get', `127.0.0.1:${port}`, '-o', '/dev/null', '--json']);
  expect(stdout.toString()).toContain(`"result":"PASS","sha256":"${SHA256}"`);
  expect(exitCode).toBe(0);
}

describe('what does not speak the protocol', () => {
  test('gets HTTP 400 with the right command, if it is a browser or a health check', async () => {
    const [status, body] = await new Promise<[number | undefined, string]>((resolve, reject) => {
      httpGet({ port: server.port, host: '127.0.0.1', path: '/build.iso' }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (piece: string) => {
          text += piece;
        });
        response.on('end', () => resolve([response.statusCode, text]));
      }).on('error', reject);
    });
    expect(status).toBe(400);
    expect(body).toContain(`wirebound get 127.0.0.1:${server.port}`);
  });

  test.each([
    ['a TLS hello', Buffer.from('16030100', 'hex')],
    ['random bytes', randomBytes(MIB)],
    ['a line of text', Buffer.from('hello?\r\n')],
  ])('gets a short answer and a close: %s', async (_, bytes) => {
    const stranger = await RawClient.connect(server.port);
    stranger.socket.write(bytes);
    await stranger.gone;
    expect(stranger.received.length).toBeLessThan(1024);
    await good();
  });

  test.each([0, 2, 255, 65535])('gets the reason when it speaks version %d', async (version) => {
    const stranger = await RawClient.connect(server.port);
    stranger.socket.write(encodePreamble(version));
    const { content: said } = await stranger.next('error');
    expect(JSON.parse(Buffer.from(said).toString())).toMatchObject({
      code: 'VERSION_MISMATCH',
      message: expect.stringContaining(`protocol version ${version}`),
    });
    await stranger.gone;
  });

  test('costs a line now and then, and no descriptor, when it comes in floods', async () => {
    const descriptors = () => readdirSync(`/proc/${server.cli.pid}/fd`).length;
    const before = descriptors();
    const warned = server.cli.events.length;
    for (let round = 0; round < 10; round++) {
      const flood = await Promise.all(Array.from({ length: 40 }, () => RawClient.connect(server.port)));
      flood.forEach((client, at) => {
        if (at % 2 === 0) client.socket.end();
        else client.reset();
      });
      await Promise.all(flood.map((client) => client.gone));
    }
    await good();
    expect(descriptors()).toBeLessThanOrEqual(before + 2);
    expect(server.cli.events.length - warned).toBeLessThan(30);
  });
});

describe('a client that resets its connection', () => {
  test('at any moment disturbs neither the server nor the others', async () => {
    const victims = [good(), good()];
    const whens: readonly ((client: RawClient) => Promise<unknown>)[] = [
      async () => undefined,
      async (client) => client.socket.write(encodePreamble().subarray(0, 3)),
      async (client) => client.hello(),
      async (client) => {
        client.hello();
        await client.next('manifest');
        client.get(0, CHUNKS);
      },
      async (client) => {
        client.hello();
        await client.next('manifest');
        client.get(0, CHUNKS);
        await client.next('chunk');
      },
      async (client) => {
        client.hello();
        await client.next('manifest');
        client.get(CHUNKS - 1, 1);
        await client.next('end');
      },
    ];
    for (let round = 0; round < 5; round++) {
      for (const when of whens) {
        const client = await RawClient.connect(server.port);
        await when(client);
        client.reset();
        await client.gone;
      }
    }
    await Promise.all(victims);
    await good();
    expect(server.cli.stderr).toBe('');
  });
});

describe('clients that do not read', () => {
  test('cost the server little memory, and slow nobody down for ever', async () => {
    const apart = await startServe([file]);
    await apart.cli.event('digest');
    await good(apart.port);
    const before = anonymousMemory(apart.cli.pid);
    const stalled = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const { client } = await RawClient.greet(apart.port);
        client.get(0, CHUNKS);
        await client.next('chunk');
        client.stopReading();
        return client;
      }),
    );
    await good(apart.port);
    expect(anonymousMemory(apart.cli.pid) - before).toBeLessThan(20 * 4 * MIB);
    // One that was paused gets the rest as soon as it reads on.
    const [slow] = stalled as [RawClient];
    slow.readOn();
    await slow.next('end');
    slow.verdict({ verified: true });
    await slow.gone;
    apart.cli.kill('SIGINT');
    await apart.cli.event('draining');
    apart.cli.kill('SIGINT');
    await apart.cli.finished;
    expect(await apart.cli.event('summary')).toMatchObject({ verified: 3, failed: 19 });
  });
});

describe('the memory of the server', () => {
  test('does not grow with the number of clients', async () => {
    const apart = await startServe([file, '--codec', 'lz4']);
    const after: number[] = [];
    for (const clients of [2, 20]) {
      await Promise.all(
        Array.from({ length: clients }, async () => {
          const { client } = await RawClient.greet(apart.port, { codecs: ['lz4'] });
          client.get(0, CHUNKS / 4);
          await client.next('end');
          client.socket.end();
          await client.gone;
        }),
      );
      after.push(anonymousMemory(apart.cli.pid));
    }
    const [few = 0, many = 0] = after;
    expect(many - few).toBeLessThan(48 * MIB);
    expect(many).toBeLessThan(200 * MIB);
  });
});
