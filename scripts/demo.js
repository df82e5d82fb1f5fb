// `npm run demo`: one file to four clients at once on this machine, as a user would run it, then the proof.
import { spawn } from 'node:child_process';
import { createHash, randomFillSync } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';

const MIB = 1024 * 1024;
const SIZE = 64 * MIB;
const CLIENTS = 4;
const DEADLINE_MS = 120_000;
const BINARY = fileURLToPath(new URL('../bin/run.js', import.meta.url));

const folder = await mkdtemp(join(tmpdir(), 'wirebound-demo-'));
/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set();
/** Set once the demo ends, whichever way that comes first. */
let leaving;
const deadline = setTimeout(() => void leave(`not done after ${DEADLINE_MS / 1000} s`, 1), DEADLINE_MS);
process.once('SIGINT', () => void leave('stopped by Ctrl+C', 130));
process.once('SIGTERM', () => void leave('stopped by SIGTERM', 143));
try {
  await demonstrate();
} catch (error) {
  await leave(error.message, 1);
}
say(`\nAll ${CLIENTS} copies are what was served. Everything the demo wrote is removed again.`);
await leave(undefined, 0);

async function demonstrate() {
  const file = join(folder, 'demo.img');
  say(`Making a file of ${SIZE / MIB} MiB: half of it random, half of it log text.\n`);
  await pipeline(pieces, createWriteStream(file));

  const serving = start('server', ['serve', file, '--codec', 'lz4', '--until', String(CLIENTS)]);
  const [, address] = await serving.line(/wirebound get (\S+)/);
  say(`\n${CLIENTS} clients at once, each with the line that the server shows:\n`);
  const clients = [];
  for (let number = 1; number <= CLIENTS; number++) {
    const home = join(folder, `machine-${number}`);
    await mkdir(home);
    clients.push({ ...start(`machine ${number}`, ['get', address], home), copy: join(home, 'demo.img') });
  }
  const ended = await Promise.all([serving, ...clients].map(({ exitCode }) => exitCode));
  if (ended.some((code) => code !== 0)) throw new Error(`exit codes ${ended.join(', ')} instead of 0`);

  say('\nSHA-256 once more, by node:crypto instead of WireBound:\n');
  const expected = await digest(file);
  say(`${expected}  what was served`);
  for (const { label, copy, output } of clients) {
    const actual = await digest(copy);
    say(`${actual}  ${label}`);
    if (actual !== expected) throw new Error(`${label} has another file`);
    if (!output().includes('PASS') || !output().includes(expected))
      throw new Error(`${label} did not say so`);
  }
  const summary = `clients  ${CLIENTS} verified, 0 failed`;
  if (!serving.output().includes(summary)) throw new Error(`the server did not say "${summary}"`);
  if (!serving.output().includes(expected)) throw new Error('the server showed another SHA-256');
}

/** Runs the command line on the loopback interface; prints what it prints, each line behind `label`. */
function start(label, args, cwd = folder) {
  const all = args[0] === 'serve' ? [...args, '--host', '127.0.0.1', '--port', '0'] : args;
  say(`${label} $ wirebound ${all.join(' ')}`);
  const child = spawn(process.execPath, [BINARY, ...all], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, XDG_CACHE_HOME: join(folder, 'cache') },
  });
  running.add(child);
  const lines = [];
  const waiting = [];
  const take = (line) => {
    say(`${label} | ${line}`);
    lines.push(line);
    for (const check of waiting) check(line);
  };
  for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on('line', take);
  const exitCode = new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      running.delete(child);
      resolve(code ?? signal);
    });
  });
  const line = (pattern) =>
    new Promise((resolve, reject) => {
      waiting.push((text) => pattern.test(text) && resolve(pattern.exec(text)));
      exitCode.then((code) => reject(new Error(`${label} ended with ${code}`)), reject);
    });
  return { label, exitCode, line, output: () => lines.join('\n') };
}

/** The content, 1 MiB at a time: random, then log text. */
function* pieces() {
  for (let left = SIZE / 2; left > 0; left -= MIB) yield randomFillSync(Buffer.alloc(MIB));
  let rest = '';
  for (let left = SIZE / 2, line = 0; left > 0; left -= MIB) {
    while (rest.length < MIB) rest += logLine(line++);
    yield Buffer.from(rest.slice(0, MIB), 'latin1');
    rest = rest.slice(MIB);
  }
}

function logLine(number) {
  const time = new Date(Date.UTC(2026, 0, 1) + number * 37).toISOString();
  const worker = (number * 7919) % 40;
  const took = (number * 104_729) % 1000;
  return `${time} INFO worker-${worker} "GET /assets/images/large/harbour.webp HTTP/1.1" 200 handled in ${took} us\n`;
}

async function digest(path) {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

function say(line) {
  process.stdout.write(`${line}\n`);
}

/** Ends what still runs, removes every file, and ends the process; what comes second changes nothing. */
function leave(reason, exitCode) {
  leaving ??= cleanUp(reason).then(() => process.exit(exitCode));
  return leaving;
}

async function cleanUp(reason) {
  clearTimeout(deadline);
  if (reason !== undefined) say(`\nThe demo FAILED: ${reason}`);
  const ended = [...running].map((child) => new Promise((resolve) => child.once('close', resolve)));
  for (const child of running) child.kill('SIGKILL');
  await Promise.all(ended);
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
}
