import { expect, test } from '@jest/globals';
import { bytesPerChunk } from '../support/cost-per-chunk.js';
import { withTempFolder } from '../support/temp-folder.js';

/** Bytes. A chunk has 262,144 of them: one copy, or one buffer of its own, shows at once. */
const MOST_ALLOCATED = 4096;
const MOST_COPIED = 1024;

test('a raw chunk is not copied and gets no memory of its own, on either side', async () => {
  const { allocated, copied } = await withTempFolder(bytesPerChunk);
  expect(Math.max(allocated.server, allocated.client)).toBeLessThan(MOST_ALLOCATED);
  expect(Math.max(copied.server, copied.client)).toBeLessThan(MOST_COPIED);
});
