import { jest } from '@jest/globals';

/**
 * On a machine of CI, which may be busy with others, a test of real processes and sockets that fails is run
 * again, twice at most; every failure is printed. Elsewhere a failure stands at once.
 */
if (process.env.CI === 'true') jest.retryTimes(2, { logErrorsBeforeRetry: true });
