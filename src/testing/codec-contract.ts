import type { Codec } from '../core/codec/codec.js';
import { codecDefence } from './codec-defence.js';
import { codecOwnership } from './codec-ownership.js';
import { codecPace } from './codec-pace.js';
import { codecRoundTrips } from './codec-round-trips.js';
import { CodecSubject, type CodecSubjectOptions } from './codec-subject.js';
import type { ContractCase } from './contract-case.js';

/**
 * What every codec must keep, whatever the test runner:
 *
 *     for (const { title, run } of codecContract(codec)) test(title, run);
 *
 * A codec may refuse to encode what does not shrink (it throws, or returns nothing), and may decode a corrupt
 * payload into wrong bytes of the right length (the digest finds that); it may never crash the process, touch or
 * keep its input, or allocate by a number that it found in a payload.
 */
export function codecContract(codec: Codec, options: CodecSubjectOptions = {}): ContractCase[] {
  const subject = new CodecSubject(codec, options);
  return [
    // First: a codec that blocks makes everything slow, and the peak of memory stays once it was reached.
    ...codecPace(subject),
    ...codecDefence(subject),
    ...codecRoundTrips(subject),
    ...codecOwnership(subject),
  ];
}
