import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ChainCache } from '#dist/core/digest/chain-cache.js';
import { defaultCacheFolder } from '#dist/core/digest/default-cache-folder.js';
import { content } from '../../../support/content.js';
import { runModule } from '../../../support/run-module.js';
import { makeTempFolder } from '../../../support/temp-folder.js';

const CHUNK_SIZE = 65_536;
const SIZE = 3 * CHUNK_SIZE - 1;
const KEY = '2049:1234:196607:1:2 ä';
const CHAIN = Uint8Array.from(content('random', 3 * 32));
const FILE_NAME = `${sha256(`${KEY}\0${CHUNK_SIZE}`).toString('hex')}.chain`;
const FILE_LENGTH = 28 + Buffer.byteLength(KEY) + 96 + 32;
const HOUR_MS = 3_600_000;

let temp: Awaited<ReturnType<typeof makeTempFolder>>;
let folder: string;
let path: string;
let cache: ChainCache;

beforeEach(async () => {
  temp = await makeTempFolder();
  folder = join(temp.path, 'made', 'cache');
  path = join(folder, FILE_NAME);
  cache = new ChainCache(folder);
});

afterEach(() => temp.remove());

describe('ChainCache', () => {
  test('what was stored comes back, to other instances too, in memory of its own', async () => {
    expect(await load()).toBeUndefined();
    expect(await store()).toBe(true);
    const chain = await load(new ChainCache(folder));
    expect(chain).toEqual(CHAIN);
    expect(chain?.buffer.byteLength).toBe(96);
  });

  test('a chain of several MiB in shared memory is kept like any other', async () => {
    const chunks = 100_000;
    const chain = new Uint8Array(new SharedArrayBuffer(chunks * 32));
    chain.set(content('random', chain.length, 2));
    expect(await cache.store(KEY, chunks * CHUNK_SIZE, CHUNK_SIZE, chain)).toBe(true);
    const loaded = await cache.load(KEY, chunks * CHUNK_SIZE, CHUNK_SIZE);
    expect(loaded !== undefined && Buffer.compare(loaded, chain)).toBe(0);
  });

  test('a later chain of the same key replaces the earlier one', async () => {
    await store();
    const other = new Uint8Array(4 * 32).fill(1);
    expect(await cache.store(KEY, 4 * CHUNK_SIZE, CHUNK_SIZE, other)).toBe(true);
    expect(await cache.load(KEY, 4 * CHUNK_SIZE, CHUNK_SIZE)).toEqual(other);
    expect(readdirSync(folder)).toEqual([FILE_NAME]);
  });

  test('another key, size or chunk size is another chain', async () => {
    await store();
    expect(await cache.load(`${KEY}1`, SIZE, CHUNK_SIZE)).toBeUndefined();
    expect(await cache.load(KEY, SIZE, 2 * CHUNK_SIZE)).toBeUndefined();
    expect(await load()).toEqual(CHAIN);
    expect(await cache.load(KEY, SIZE - 1, CHUNK_SIZE)).toBeUndefined();
  });

  test('remove forgets one chain and leaves the others', async () => {
    await store();
    await cache.store('other', SIZE, CHUNK_SIZE, CHAIN);
    await cache.remove(KEY, CHUNK_SIZE);
    await cache.remove('never stored', CHUNK_SIZE);
    expect(await load()).toBeUndefined();
    expect(await cache.load('other', SIZE, CHUNK_SIZE)).toEqual(CHAIN);
  });

  test('a chain of the wrong length is a bug and is told', async () => {
    const refusal = expect.objectContaining({ code: 'INTERNAL' });
    await expect(cache.store(KEY, SIZE, CHUNK_SIZE, CHAIN.subarray(1))).rejects.toThrow(refusal);
    expect(existsSync(folder)).toBe(false);
  });

  test('the file has the documented layout', async () => {
    await store();
    const key = Buffer.from(KEY);
    const header = Buffer.alloc(28);
    header.write('WBCHAIN\0');
    header.writeUInt32LE(1, 8);
    header.writeUInt32LE(key.length, 12);
    header.writeBigUInt64LE(BigInt(SIZE), 16);
    header.writeUInt32LE(CHUNK_SIZE, 24);
    const signed = Buffer.concat([header, key, CHAIN]);
    expect(readFileSync(path)).toEqual(Buffer.concat([signed, sha256(signed)]));
  });

  test('only the owner may look', async () => {
    await store();
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });
});

describe('a damaged chain is absent and removed:', () => {
  test.each(Array.from({ length: 15 }, (_, index) => index * 13))('a flipped bit at byte %i', async (at) => {
    await damage((bytes) => {
      bytes[at % bytes.length] = (bytes[at % bytes.length] as number) ^ 0x10;
      return bytes;
    });
  });

  test.each([0, 1, 28, FILE_LENGTH - 32, FILE_LENGTH - 1, FILE_LENGTH + 1])(
    '%i bytes of it',
    async (length) => {
      await damage((bytes) => Buffer.concat([bytes, Buffer.alloc(1)]).subarray(0, length));
    },
  );

  test('one that was stored under another key', async () => {
    await cache.store('other', SIZE, CHUNK_SIZE, CHAIN);
    renameSync(join(folder, readdirSync(folder)[0] as string), path);
    await expectAbsent();
  });

  test('one that others may write to', async () => {
    await store();
    chmodSync(path, 0o620);
    await expectAbsent();
  });

  asRoot('one that belongs to somebody else', async () => {
    await store();
    chownSync(path, 65534, 65534);
    await expectAbsent();
  });

  test('a pipe, which is not waited for', async () => {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    execFileSync('mkfifo', ['-m', '600', path]);
    await expectAbsent();
  });

  test('a symbolic link, whose target is neither believed nor touched', async () => {
    await store();
    const target = join(temp.path, 'target');
    renameSync(path, target);
    symlinkSync(target, path);
    await expectAbsent();
    expect(existsSync(target)).toBe(true);
  });

  test('a folder in its place is no error either, though it stays', async () => {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    expect(await load()).toBeUndefined();
    expect(await store()).toBe(false);
    expect(readdirSync(folder)).toEqual([FILE_NAME]);
  });

  async function damage(change: (bytes: Buffer) => Buffer): Promise<void> {
    await store();
    const bytes = readFileSync(path);
    writeFileSync(path, change(bytes));
    await expectAbsent();
  }

  async function expectAbsent(): Promise<void> {
    expect(await load()).toBeUndefined();
    expect(lstatSync(path, { throwIfNoEntry: false })).toBeUndefined();
  }
});

describe('storing never fails the caller:', () => {
  test('a folder that cannot be made', async () => {
    writeFileSync(join(temp.path, 'made'), 'a file in the way');
    expect(await store()).toBe(false);
    expect(await load()).toBeUndefined();
    await cache.remove(KEY, CHUNK_SIZE);
  });

  asRoot('a folder that may not be written to', async () => {
    mkdirSync(folder, { recursive: true });
    chmodSync(temp.path, 0o755);
    chownSync(folder, 65534, 65534);
    chmodSync(folder, 0o500);
    expect(await storeElsewhere('process.setuid(65534);')).toBe('false');
    expect(readdirSync(folder)).toEqual([]);
  });

  asRoot('a folder that belongs to somebody else', async () => {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    chownSync(folder, 65534, 65534);
    expect(await store()).toBe(false);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('a folder that others may write to', async () => {
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o770);
    expect(await store()).toBe(false);
  });

  test('a relative folder, which an empty HOME would make', async () => {
    const relative = 'wirebound-relative-cache';
    expect(await store(new ChainCache(relative))).toBe(false);
    expect(existsSync(relative)).toBe(false);
  });

  test('no room on the disk, which leaves nothing behind', async () => {
    const prlimit = ['prlimit', `--fsize=${FILE_LENGTH - 1}`];
    expect(await storeElsewhere('', prlimit)).toBe('false');
    expect(readdirSync(folder)).toEqual([]);
  });

  test('a planted link is replaced, never followed', async () => {
    const precious = join(temp.path, 'precious');
    writeFileSync(precious, 'precious');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    symlinkSync(precious, path);
    expect(await store()).toBe(true);
    expect(readFileSync(precious, 'utf8')).toBe('precious');
    expect(await load()).toEqual(CHAIN);
  });

  test('two processes storing the same chain at once never show half of one', async () => {
    await store();
    const writers = [1, 2].map(() => storeElsewhere('', [], 50));
    let done = false;
    const finished = Promise.all(writers).finally(() => {
      done = true;
    });
    while (!done) expect(await load()).toEqual(CHAIN);
    expect(await finished).toEqual(['true', 'true']);
    expect(readdirSync(folder)).toEqual([FILE_NAME]);
  });
});

describe('the cache stays within its limit:', () => {
  test('chains unused for longest go first, and loading one counts as use', async () => {
    const bounded = new ChainCache(folder, { maxBytes: 3 * FILE_LENGTH });
    for (const [index, key] of ['a', 'b', 'c'].entries()) {
      await bounded.store(key, SIZE, CHUNK_SIZE, CHAIN);
      age(key, (3 - index) * HOUR_MS);
    }
    await bounded.load('a', SIZE, CHUNK_SIZE);
    await bounded.store(KEY, SIZE, CHUNK_SIZE, CHAIN);
    expect(['a', 'b', 'c', KEY].map((key) => existsSync(pathOf(key)))).toEqual([true, false, true, true]);
  });

  test('a chain with a date in the future does not stay for ever', async () => {
    const bounded = new ChainCache(folder, { maxBytes: FILE_LENGTH });
    await bounded.store('a', SIZE, CHUNK_SIZE, CHAIN);
    age('a', -24 * HOUR_MS);
    await bounded.store(KEY, SIZE, CHUNK_SIZE, CHAIN);
    expect(readdirSync(folder)).toEqual([FILE_NAME]);
  });

  test('a chain that is larger by itself is not kept, and nothing makes room for it', async () => {
    await store();
    const bounded = new ChainCache(folder, { maxBytes: FILE_LENGTH });
    expect(await bounded.store(KEY, 4 * CHUNK_SIZE, CHUNK_SIZE, new Uint8Array(128))).toBe(false);
    expect(await load()).toEqual(CHAIN);
  });

  test('temporary files of dead runs go, young ones and strangers stay', async () => {
    await store();
    const names = ['1-0123456789abcdef.tmp', '2-0123456789abcdef.tmp'].map((tail) =>
      FILE_NAME.replace('chain', tail),
    );
    for (const name of [...names, 'notes.txt']) writeFileSync(join(folder, name), '');
    const old = new Date(Date.now() - 2 * HOUR_MS);
    for (const name of [names[0] as string, 'notes.txt']) utimesSync(join(folder, name), old, old);
    await store();
    expect(readdirSync(folder).sort()).toEqual([names[1], FILE_NAME, 'notes.txt'].sort());
  });

  function age(key: string, ms: number): void {
    const time = new Date(Date.now() - ms);
    utimesSync(pathOf(key), time, time);
  }
});

describe('defaultCacheFolder', () => {
  test.each([
    [{ XDG_CACHE_HOME: '/x' }, 'linux', '/home/a', '/x/wirebound'],
    [{ XDG_CACHE_HOME: '/x' }, 'darwin', '/Users/a', '/x/wirebound'],
    [{ XDG_CACHE_HOME: 'relative' }, 'linux', '/home/a', '/home/a/.cache/wirebound'],
    [{ XDG_CACHE_HOME: '' }, 'linux', '/home/a', '/home/a/.cache/wirebound'],
    [{}, 'freebsd', '/home/a', '/home/a/.cache/wirebound'],
    [{}, 'darwin', '/Users/a', '/Users/a/Library/Caches/wirebound'],
    [{ LOCALAPPDATA: 'D:\\Local' }, 'win32', 'C:\\Users\\a', 'D:\\Local\\wirebound\\Cache'],
    [{}, 'win32', 'C:\\Users\\a', 'C:\\Users\\a\\AppData\\Local\\wirebound\\Cache'],
  ] as const)('with %j on %s for %s it is %s', (env, platform, home, expected) => {
    expect(defaultCacheFolder(env, platform, home)).toBe(expected);
  });
});

function store(into = cache): Promise<boolean> {
  return into.store(KEY, SIZE, CHUNK_SIZE, CHAIN);
}

function load(from = cache): Promise<Uint8Array | undefined> {
  return from.load(KEY, SIZE, CHUNK_SIZE);
}

function pathOf(key: string): string {
  return join(folder, `${sha256(`${key}\0${CHUNK_SIZE}`).toString('hex')}.chain`);
}

function sha256(data: string | Buffer): Buffer {
  return createHash('sha256').update(data).digest();
}

/** Stores {@link CHAIN} `times` from a process of its own; what the last `store` resolved to, as text. */
async function storeElsewhere(first: string, through: string[] = [], times = 1): Promise<string> {
  const code = `
    import { ChainCache } from '#dist/core/digest/chain-cache.js';
    ${first}
    const chain = Uint8Array.from(${JSON.stringify([...CHAIN])});
    let stored;
    for (let time = 0; time < ${times}; time++) {
      stored = await new ChainCache(process.argv[1]).store(${JSON.stringify(KEY)}, ${SIZE}, ${CHUNK_SIZE}, chain);
    }
    console.log(stored);`;
  const { stdout, stderr } = await runModule(code, [folder], through).finished;
  return stdout.trim() || stderr;
}

function asRoot(title: string, run: () => Promise<void>): void {
  (process.getuid?.() === 0 ? test : test.skip)(title, run);
}
