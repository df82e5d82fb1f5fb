/** Tests are TypeScript whose types are stripped here; the product they import is the build in dist (#dist/...). */
export default {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/test/**/*.test.ts', '<rootDir>/packages/*/test/**/*.test.ts'],
  testPathIgnorePatterns: ['\\.long\\.test\\.ts$'],
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': ['$1.js', '$1.ts'] },
  transform: {
    '\\.ts$': [
      '@swc/jest',
      { jsc: { target: 'es2022', parser: { syntax: 'typescript' } }, module: { type: 'es6' } },
    ],
  },
  setupFilesAfterEnv: ['<rootDir>/test/support/retry.js'],
  testTimeout: 60_000,
  maxWorkers: 2,
  reporters: ['default', '<rootDir>/test/support/count-reporter.js'],
};
