import { assertSameBytes } from './assert-same-bytes.js';
import type { CodecSubject } from './codec-subject.js';
import type { ContractCase } from './contract-case.js';

const LENGTH = 64 * 1024;

/** Input stays the caller's, and payloads become the caller's. */
export function codecOwnership(subject: CodecSubject): ContractCase[] {
  return [
    {
      title: 'input is never changed',
      async run() {
        const { chunk, payload } = await subject.sample(LENGTH);
        const given = new Uint8Array(chunk);
        await subject.encode(given);
        assertSameBytes(given, chunk);
        const copy = new Uint8Array(payload);
        await subject.decode(payload, chunk.length);
        assertSameBytes(payload, copy);
      },
    },
    {
      title: 'a payload is no view of the chunk',
      async run() {
        const { chunk } = await subject.sample(LENGTH);
        const given = new Uint8Array(chunk);
        const encoded = (await subject.encode(given)) as Uint8Array;
        const payload = new Uint8Array(encoded);
        given.fill(0xff);
        assertSameBytes(encoded, payload);
      },
    },
    {
      title: 'a payload survives the next ones',
      async run() {
        const first = await subject.sample(LENGTH, 1);
        const copy = new Uint8Array(first.payload);
        await subject.sample(LENGTH, 2);
        assertSameBytes(first.payload, copy);
      },
    },
  ];
}
