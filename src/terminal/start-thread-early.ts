import { DigestThread } from '../core/digest/digest-thread.js';

// A download needs a digest thread for certain; it starts on another core while the command line is still loading.
if (process.argv[2] === 'get') DigestThread.startAhead();
