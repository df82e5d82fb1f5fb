import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { Random } from '../support/random.js';
import { CHANGES, changeWhileServed } from '../support/source-trials.js';
import { withTempFolder } from '../support/temp-folder.js';

const SEED = Math.floor(Date.now() / 86_400_000);
const ROUNDS = 20;
const CLIENTS = 20;

test.each(CHANGES)(
  `a file that is %s under 20 clients, 20 times, never becomes a mixture (seed ${SEED})`,
  async (change) => {
    await withTempFolder(async (folder) => {
      const count = { passed: 0, refused: 0 };
      const random = new Random(SEED + change.length);
      for (let round = 0; round < ROUNDS; round++) {
        await changeWhileServed(join(folder, 'file.bin'), change, CLIENTS, random, count);
      }
      expect(count.passed + count.refused).toBe(ROUNDS * (CLIENTS + 1));
    });
  },
);
