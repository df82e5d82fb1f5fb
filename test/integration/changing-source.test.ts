import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { Random } from '../support/random.js';
import { CHANGES, changeWhileServed } from '../support/source-trials.js';
import { withTempFolder } from '../support/temp-folder.js';

test.each(CHANGES)(
  'a file that is %s while it is served never reaches anybody as a mixture',
  async (change) => {
    await withTempFolder(async (folder) => {
      const count = { passed: 0, refused: 0 };
      await changeWhileServed(join(folder, 'file.bin'), change, 5, new Random(change.length), count);
      expect(count.passed + count.refused).toBe(6);
    });
  },
);
