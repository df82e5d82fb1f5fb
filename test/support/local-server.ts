import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach } from '@jest/globals';
import {
  compose,
  type GetRequest,
  type PluginReference,
  type RunningServer,
  type ServeRequest,
} from '#dist/composition.js';
import type { GetResult } from '#dist/core/client/get-event.js';
import type { ServeEvent } from '#dist/core/server/serve-event.js';
// compose() imports these all at once, which jest's module loader cannot do: here they come one by one.
import '#dist/plugins/codecs/deflate.js';
import '#dist/plugins/codecs/lz4.js';
import '#dist/plugins/codecs/none.js';
import '#dist/plugins/sources/file.js';
import '#dist/plugins/sources/memory.js';
import '#dist/plugins/sources/mmap.js';

const cache = mkdtempSync(join(tmpdir(), 'wirebound-cache-'));
process.env.XDG_CACHE_HOME = cache;
const open = new Set<RunningServer>();

afterEach(async () => {
  for (const server of open) {
    server.stop();
    await server.finished;
  }
  open.clear();
});
afterAll(() => rmSync(cache, { recursive: true, force: true }));

/** A server in this process, on a free port of the loopback interface. */
export interface LocalServer extends RunningServer {
  readonly port: number;
  readonly listening: Extract<ServeEvent, { event: 'listening' }>;
  /** Everything it has told so far. */
  readonly events: readonly ServeEvent[];
}

/** What comes beside the built-in codecs and sources. */
interface WithPlugins {
  readonly plugins?: readonly PluginReference[];
}

/** Serves `reference` from this process until the test is over; its chain cache is a folder of this test file. */
export async function openLocalServer(
  reference: string,
  { plugins = [], ...options }: Partial<ServeRequest> & WithPlugins = {},
): Promise<LocalServer> {
  const events: ServeEvent[] = [];
  const app = await compose({ plugins });
  const request: ServeRequest = {
    reference,
    codec: 'none',
    chunkSize: 64 * 1024,
    port: 0,
    host: '127.0.0.1',
    source: 'auto',
    rehash: false,
    memoryLimit: 2 ** 30,
    cacheBytes: 64 * 2 ** 20,
    ...options,
    onEvent: (event) => events.push(event),
  };
  const server = await app.serve(request, new AbortController().signal);
  open.add(server);
  const listening = events.find((event) => event.event === 'listening');
  if (listening?.event !== 'listening') throw new Error('the server is not listening');
  return {
    port: listening.port,
    listening,
    events,
    drain: () => server.drain(),
    stop: () => server.stop(),
    finished: server.finished,
  };
}

/** Gets the file that is served at `port` of this machine to `output`. */
export async function getFrom(
  port: number,
  output: string,
  { plugins = [], ...options }: Partial<GetRequest> & WithPlugins = {},
): Promise<GetResult> {
  const app = await compose({ plugins });
  return app.get({
    host: '127.0.0.1',
    port,
    output,
    force: false,
    waitMs: 0,
    retryForMs: 300_000,
    signal: new AbortController().signal,
    onEvent: () => undefined,
    ...options,
  });
}
