import { assertSameBytes } from './assert-same-bytes.js';
import type { CodecSubject } from './codec-subject.js';
import type { ContractCase } from './contract-case.js';

const LENGTH = 64 * 1024;

/** Input stays the caller's, output becomes the caller's. */
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
      title: 'output is no view of the input',
      async run() {
        const { chunk } = await subject.sample(LENGTH);
        const given = new Uint8Array(chunk);
        const encoded = (await subject.encode(given)) as Uint8Array;
        const payload = new Uint8Array(encoded);
        given.fill(0xff);
        assertSameBytes(encoded, payload);
        const decoded = await subject.decode(payload, chunk.length);
        payload.fill(0xff);
        assertSameBytes(decoded, chunk);
      },
    },
    {
      title: 'output of one call survives the next ones',
      async run() {
        const first = await subject.sample(LENGTH, 1);
        const copy = new Uint8Array(first.payload);
        const other = await subject.sample(LENGTH, 2);
        assertSameBytes(first.payload, copy);
        const decoded = await subject.decode(first.payload, LENGTH);
        await subject.decode(other.payload, LENGTH);
        assertSameBytes(decoded, first.chunk);
      },
    },
  ];
}
