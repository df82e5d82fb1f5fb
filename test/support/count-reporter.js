import { writeSync } from 'node:fs';

/**
 * Jest reporter whose last line, alone, is `N passed, N failed, N skipped`. A test file that could not
 * even be loaded counts as one failure. The line is written when the process ends, after all that Jest
 * itself has to say.
 */
export default class CountReporter {
  onRunComplete(_contexts, results) {
    const passed = results.numPassedTests;
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const skipped = results.numPendingTests + results.numTodoTests;
    process.once('exit', () => writeSync(1, `${passed} passed, ${failed} failed, ${skipped} skipped\n`));
  }
}
