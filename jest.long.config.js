import quick from './jest.config.js';

/** What takes too long for every `npm test`: one file at a time, with minutes to finish. */
export default {
  ...quick,
  testMatch: ['<rootDir>/test/**/*.long.test.ts', '<rootDir>/packages/*/test/**/*.long.test.ts'],
  testPathIgnorePatterns: [],
  testTimeout: 600_000,
  maxWorkers: 1,
};
