// `get-and-hash.js PORT TIMES SIZE`: gets a raw file a few times to nothing, hashes as many bytes, and prints the
// processor seconds of this process for both as JSON. Each is done once before, to warm up.
import { createHash } from 'node:crypto';
import { getFile } from '#dist/core/client/get-file.js';

const [port, times, size] = process.argv.slice(2).map(Number);

async function get() {
  const { result, message } = await getFile({
    target: { host: '127.0.0.1', port },
    output: '/dev/null',
    force: false,
    waitMs: 0,
    retryForMs: 0,
    codecs: [],
    agent: 'test',
    signal: new AbortController().signal,
    onEvent: () => {},
  });
  if (result !== 'PASS') throw new Error(message);
}

function hash() {
  const sha256 = createHash('sha256');
  const piece = Buffer.alloc(256 * 1024);
  for (let done = 0; done < size; done += piece.length) sha256.update(piece);
  sha256.digest();
}

function seconds() {
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  return (userCPUTime + systemCPUTime) / 1e6;
}

async function measure(act) {
  await act();
  const before = seconds();
  for (let turn = 0; turn < times; turn++) await act();
  return seconds() - before;
}

console.log(JSON.stringify({ get: await measure(get), hash: await measure(hash) }));
