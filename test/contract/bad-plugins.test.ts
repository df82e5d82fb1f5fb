import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type CheckEvent, checkPluginAt, runContract, sourceContract } from '#dist/testing/index.js';
import { makeTempFolder } from '../support/temp-folder.js';

const FOLDER = fileURLToPath(new URL('../support/bad-plugins/', import.meta.url));

/** Which promise each of them breaks, and what is said of it. */
const codecs: Readonly<Record<string, readonly [title: RegExp, reason: RegExp]>> = {
  'returns-its-input': [/^a payload is no view of the chunk$/, /bytes differ/],
  truncates: [/^text and zeros of any size come back/, /returned \d+ bytes/],
  'ignores-the-length': [/^a payload of another raw length is refused$/, /decoded 65536 bytes into/],
  'throws-later': [/256 KiB|how much memory/, /outside of any call: too late to tell/],
  'reuses-its-buffer': [/^a payload survives the next ones$/, /bytes differ/],
  'blocks-for-seconds': [/gives the thread back within a second$/, /encode blocked for 1\d{3} ms/],
  'blocks-for-ever': [/gives the thread back within a second$/, /blocked its thread for more than \d+ s/],
  'changes-its-input': [/^input is never changed$/, /bytes differ/],
  'trusts-the-payload': [/^a number in a payload never decides/, /took \d+ bytes/],
  'remembers-the-last-chunk': [/alone, in any order$/, /bytes differ/],
  'mixes-up-calls': [/^calls may overlap$/, /bytes/],
  'never-answers': [/gives the thread back within a second$/, /did not end within/],
  'returns-text': [/gives the thread back within a second$/, /encode returned a string/],
  'ends-the-process': [/^an empty payload is refused$/, /ended its process \(exit code 3\)/],
  'is-upset-by-damage': [/cut, changed or made up/, /I do not trust you/],
  'forgets-large-chunks': [/^the largest chunk/, /returned 4194304 bytes/],
  'wants-its-own-memory': [/shared memory are as good as any$/, /refused a chunk in shared memory/],
  'has-a-bad-name': [/^its name can be registered$/, /lower-case/],
};
const sources: typeof codecs = {
  'lies-about-its-size': [/^name and size are told/, /1200013/],
  'reads-past-the-end': [/^a read is short only at the end/, /8 !== 7|8/],
  'reads-short': [/^every byte can be read/, /65536 bytes instead of/],
  'ignores-the-offset': [/^reads may overlap in time/, /bytes/],
  'fills-the-rest': [/^a read leaves alone what lies beyond/, /0/],
  'writes-outside': [/^a read stays within the memory/, /wrote behind it/],
  'writes-later': [/^a read lets go of its memory/, /wrote again later/],
  'cannot-close-twice': [/^it may be closed twice/, /closed already/],
  'renames-itself': [/^name and size are told/, /content-0\.bin/],
  'has-one-cursor': [/^reads may overlap in time/, /bytes differ/],
  'lends-too-much': [/^nothing is lent beyond the end$/, /it lent 11 bytes/],
  wanders: [/^the identity of untouched content/, /look/],
  'counts-in-text': [/^every byte can be read/, /read says/],
};

let temp: Awaited<ReturnType<typeof makeTempFolder>>;
beforeAll(async () => {
  temp = await makeTempFolder();
  const { content } = (await import(join(FOLDER, 'parts.mjs'))) as { content: Uint8Array };
  writeFileSync(join(temp.path, 'content.bin'), content);
});
afterAll(() => temp.remove());

async function brokenIn(name: string, options = {}) {
  const broken: Extract<CheckEvent, { event: 'case' }>[] = [];
  await checkPluginAt(join(FOLDER, `${name}.mjs`), {
    timeoutMs: /never|for-ever/.test(name) ? 3000 : 30_000,
    ...options,
    onEvent: (event) => {
      if (event.event === 'case' && event.outcome === 'broken') broken.push(event);
    },
  });
  return broken;
}

describe('the codec contract catches a codec that', () => {
  test.each(Object.entries(codecs))('%s', async (name, [title, reason]) => {
    const broken = await brokenIn(name);
    const named = broken.filter((result) => title.test(result.title));
    expect({ broken, named: named.map((result) => result.reason) }).toEqual({
      broken,
      named: [expect.stringMatching(reason)],
    });
  });
});

describe('the source contract catches a source that', () => {
  test.each(Object.entries(sources))('%s', async (name, [title, reason]) => {
    const broken = await brokenIn(name, { reference: 'bad://', content: join(temp.path, 'content.bin') });
    const named = broken.filter((result) => title.test(result.title));
    expect({ broken, named: named.map((result) => result.reason) }).toEqual({
      broken,
      named: [expect.stringMatching(reason)],
    });
  });
});

test('neither contract finds anything in what the bad plugins are made of', async () => {
  expect(await brokenIn('parts', { reference: 'bad://', content: join(temp.path, 'content.bin') })).toEqual(
    [],
  );
});

test('the source contract catches a source that hides what it cannot read', async () => {
  const content = Buffer.alloc(200_000, 'something');
  const open = async () => {
    let broken = false;
    const source = {
      name: 'hides-errors',
      size: content.length,
      read: async (offset: number, into: Uint8Array) => {
        const count = offset < content.length ? content.copy(into, 0, offset) : 0;
        if (broken) into.fill(0, 0, count);
        return count;
      },
      close: async () => {},
    };
    const breakContent = async () => {
      broken = true;
    };
    return { source, breakContent };
  };
  const results = await runContract(sourceContract({ content, open }));
  expect(results.filter(({ outcome }) => outcome === 'broken')).toEqual([
    {
      title: 'what cannot be read any more is an error',
      outcome: 'broken',
      reason: expect.stringContaining('every read succeeded'),
    },
  ]);
});

test('every bad plugin in the folder is one of these', () => {
  const files = readdirSync(FOLDER).flatMap((name) => /^(?!parts)(.*)\.mjs$/.exec(name)?.[1] ?? []);
  expect(files.sort()).toEqual([...Object.keys(codecs), ...Object.keys(sources)].sort());
});
