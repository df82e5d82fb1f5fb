import assert from 'node:assert/strict';
import type { CodecSubject } from './codec-subject.js';
import type { ContractCase } from './contract-case.js';

/** The longest that one call may keep the thread, milliseconds: everybody else waits for so long. */
const LONGEST_CALL_MS = 1000;
/** A busy machine makes a call look slow now and then; not this often in a row. */
const ATTEMPTS = 3;
const CHUNK = 256 * 1024;

/** How long a codec may keep others waiting. */
export function codecPace(subject: CodecSubject): ContractCase[] {
  return [
    {
      title: 'a call for a chunk of 256 KiB gives the thread back within a second',
      fatal: true,
      async run() {
        const { chunk, payload } = await subject.sample(CHUNK);
        for (const kind of ['encode', 'decode'] as const) {
          const input = kind === 'encode' ? chunk : payload;
          let fastest = Number.POSITIVE_INFINITY;
          for (let attempt = 0; attempt < ATTEMPTS && fastest > LONGEST_CALL_MS; attempt++) {
            fastest = Math.min(fastest, await subject.timeOfCall(kind, new Uint8Array(input), CHUNK));
          }
          assert.ok(fastest <= LONGEST_CALL_MS, `${kind} blocked for ${Math.round(fastest)} ms`);
        }
      },
    },
  ];
}
