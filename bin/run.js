#!/usr/bin/env node
// CommonJS, because loading an ES module already starts the thread pool that this resizes: with 4 threads,
// four slow reads of a disk block everything else.
process.env.UV_THREADPOOL_SIZE ??= '8';
require('../dist/start.cjs');
