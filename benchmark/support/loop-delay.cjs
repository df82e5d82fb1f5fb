// Preloaded into a process with `NODE_OPTIONS=--require`: the first SIGUSR2 starts watching how late its event
// loop runs, the second writes percentiles in milliseconds to the file WIREBOUND_BENCH_LOOP_DELAY names.
const { writeFileSync } = require('node:fs');
const { monitorEventLoopDelay } = require('node:perf_hooks');
const { isMainThread } = require('node:worker_threads');

const RESOLUTION_MS = 1;

if (isMainThread) {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  let watching = false;
  process.on('SIGUSR2', () => {
    if (watching) {
      histogram.disable();
      const ms = (percentile) => histogram.percentile(percentile) / 1e6;
      const result = { p50: ms(50), p99: ms(99), p999: ms(99.9), max: histogram.max / 1e6 };
      writeFileSync(process.env.WIREBOUND_BENCH_LOOP_DELAY, JSON.stringify(result));
    } else {
      histogram.reset();
      histogram.enable();
    }
    watching = !watching;
  });
}
