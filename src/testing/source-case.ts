import assert from 'node:assert/strict';
import type { ChunkSource } from '../core/source/chunk-source.js';
import type { ContractCase } from './contract-case.js';
import type { SourceFixture, SourceUnderTest } from './source-under-test.js';

/** What one case does with an open source, which is closed afterwards in any case. */
export type SourceCaseBody = (
  source: ChunkSource,
  content: Uint8Array,
  subject: SourceUnderTest,
) => Promise<void>;

/** A case over a source of its own. */
export function sourceCase(title: string, fixture: SourceFixture, body: SourceCaseBody): ContractCase {
  return {
    title,
    run: async () =>
      withSource(await fixture.open(), (source, subject) => body(source, fixture.content, subject)),
  };
}

/** Closes the source and takes away what was set up for it, whichever way `body` ends. */
export async function withSource(
  subject: SourceUnderTest,
  body: (source: ChunkSource, subject: SourceUnderTest) => Promise<void>,
): Promise<void> {
  try {
    await body(subject.source, subject);
  } finally {
    await subject.source.close();
    await subject.dispose?.();
  }
}

/** The bytes of one read. */
export async function readSpan(source: ChunkSource, offset: number, length: number): Promise<Uint8Array> {
  const into = new Uint8Array(length);
  const count: unknown = await source.read(offset, into);
  assert.ok(
    Number.isSafeInteger(count) && Number(count) >= 0 && Number(count) <= length,
    `read says ${String(count)} of ${length} bytes at ${offset}`,
  );
  return into.subarray(0, Number(count));
}
