/** The body of the thread in which a plugin is checked; see {@link checkPluginAt} for the other side. */
import { readFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { loadPlugin } from '../core/plugin/load-plugin.js';
import type { CheckJob, CheckMessage } from './check-job.js';
import { codecContract } from './codec-contract.js';
import { measureCodec } from './codec-speed.js';
import type { ContractCase } from './contract-case.js';
import { openFixture } from './open-fixture.js';
import { runContract } from './run-contract.js';
import { sourceContract } from './source-contract.js';

const port = parentPort;
if (port === null) throw new Error('check-worker runs as a worker thread only');
const job = workerData as CheckJob;
const tell = (message: CheckMessage) => port.postMessage(message);

const plugin = await loadPlugin(job.module);
const codec = plugin.codecs.find(({ name }) => job.kind === 'codec' && name === job.name);
const cases = codec === undefined ? await sourceCases() : codecContract(codec, samples());
tell({ kind: 'plan', titles: cases.map(({ title }) => title) });
const results = await runContract(cases.slice(job.skip), {
  timeoutMs: job.timeoutMs,
  onStart: (title) => tell({ kind: 'start', title }),
  onResult: (result) => tell({ kind: 'result', result }),
});
if (codec !== undefined && results.every(({ outcome }) => outcome !== 'not run')) {
  tell({ kind: 'figures', figures: await measureCodec(codec) });
}
tell({ kind: 'end' });
// A plugin may have left something open that would keep the thread alive.
process.exit();

async function sourceCases(): Promise<readonly ContractCase[]> {
  const provider = plugin.sources.find(({ name }) => name === job.name);
  if (provider === undefined) throw new Error(`there is no ${job.kind} ${job.name}`);
  const { reference = '', content } = job;
  const fixture = await openFixture(
    provider,
    reference,
    content === undefined ? undefined : readFileSync(content),
  );
  return sourceContract(fixture);
}

/** Pieces of the sample file, repeated where it is too short. */
function samples(): Parameters<typeof codecContract>[1] {
  if (job.sample === undefined) return {};
  const bytes = readFileSync(job.sample);
  if (bytes.length === 0) throw new Error(`${job.sample} is empty`);
  return {
    sample: (length, seed) => {
      const start = (seed * 4096) % bytes.length;
      const turned = Buffer.concat([bytes.subarray(start), bytes.subarray(0, start)]);
      return Uint8Array.from(Buffer.alloc(length, turned));
    },
  };
}
