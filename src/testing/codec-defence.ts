import assert from 'node:assert/strict';
import { assertSameBytes } from './assert-same-bytes.js';
import { forgedPrefixes, mutations } from './codec-samples.js';
import type { CodecSubject } from './codec-subject.js';
import type { ContractCase } from './contract-case.js';
import { peakMemory } from './peak-memory.js';

const MEMORY_ALLOWANCE = 256 * 1024 * 1024;
const RAW_LENGTH = 64 * 1024;

/** What payloads from a stranger may do. */
export function codecDefence(subject: CodecSubject): ContractCase[] {
  return [
    {
      // First, because a codec that trusts a size does so with random payloads too, and the peak stays.
      title: 'a number in a payload never decides how much memory is taken',
      async run() {
        const { payload } = await subject.sample(RAW_LENGTH);
        const before = peakMemory();
        // The peak may have been higher before, so that an allocation does not show in it.
        const { arrayBuffers } = process.memoryUsage();
        for (const bad of forgedPrefixes(payload)) {
          await subject.decodeOrRefuse(bad, RAW_LENGTH);
          const held = process.memoryUsage().arrayBuffers - arrayBuffers;
          const taken = Math.max(peakMemory() - before, held);
          assert.ok(taken < MEMORY_ALLOWANCE, `took ${taken} bytes for a chunk of ${RAW_LENGTH}`);
        }
      },
    },
    {
      title: 'an empty payload is refused',
      async run() {
        const decoded = await subject.decodeOrRefuse(new Uint8Array(0), RAW_LENGTH);
        assert.ok(decoded === undefined, 'it decoded something out of nothing');
      },
    },
    {
      title: 'a payload of another raw length is refused',
      async run() {
        const { payload } = await subject.sample(RAW_LENGTH);
        for (const wrong of [1, RAW_LENGTH / 2, RAW_LENGTH - 1, RAW_LENGTH + 1, RAW_LENGTH * 2]) {
          const decoded = await subject.decodeOrRefuse(payload, wrong);
          // Not assert.equal: some Nodes take minutes to print how an array differs from nothing.
          assert.ok(decoded === undefined, `decoded ${RAW_LENGTH} bytes into ${wrong}`);
        }
      },
    },
    {
      title: 'a payload that was cut, changed or made up is refused, or gives bytes of the right length',
      async run() {
        const { chunk, payload } = await subject.sample(RAW_LENGTH);
        const copy = new Uint8Array(payload);
        for (const bad of mutations(payload)) await subject.decodeOrRefuse(bad, RAW_LENGTH);
        assertSameBytes(payload, copy);
        assertSameBytes(await subject.decode(payload, RAW_LENGTH), chunk);
      },
    },
  ];
}
