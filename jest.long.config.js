import quick from './jest.config.js';

/** What takes too long for every `npm test`: one file at a time, with half an hour to finish on a slow machine. */
export default {
  ...quick,
  testMatch: ['<rootDir>/test/**/*.long.test.ts', '<rootDir>/packages/*/test/**/*.long.test.ts'],
  testPathIgnorePatterns: [],
  testTimeout: 1_800_000,
  maxWorkers: 1,
};
