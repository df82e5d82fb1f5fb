import fc from 'fast-check';

/** One thing that can happen to bytes on purpose; positions wrap around. */
export type Mutation =
  | { readonly kind: 'set'; readonly at: number; readonly byte: number }
  | { readonly kind: 'flip'; readonly at: number; readonly bit: number }
  | { readonly kind: 'insert'; readonly at: number; readonly bytes: Uint8Array }
  | { readonly kind: 'remove'; readonly at: number; readonly length: number }
  | { readonly kind: 'copy'; readonly from: number; readonly at: number; readonly length: number }
  | { readonly kind: 'truncate'; readonly at: number }
  | { readonly kind: 'replace'; readonly bytes: Uint8Array };

const at = fc.nat();
const length = fc.integer({ min: 1, max: 64 });
const bytes = fc.uint8Array({ minLength: 1, maxLength: 32 });

export const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('set'), at, byte: fc.constantFrom(0, 1, 127, 128, 254, 255) }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('flip'), at, bit: fc.nat({ max: 7 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('insert'), at, bytes }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove'), at, length }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('copy'), from: at, at, length }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('truncate'), at }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('replace'), bytes }) },
) as fc.Arbitrary<Mutation>;

/** A copy of `original` with everything done to it, in order. */
export function mutate(original: Uint8Array, mutations: readonly Mutation[]): Buffer {
  return mutations.reduce(apply, Buffer.from(original));
}

function apply(bytes: Buffer, change: Mutation): Buffer {
  if (change.kind === 'replace') return Buffer.from(change.bytes);
  const at = change.at % (bytes.length + 1);
  switch (change.kind) {
    case 'set':
      if (at < bytes.length) bytes.writeUInt8(change.byte, at);
      return bytes;
    case 'flip':
      if (at < bytes.length) bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << change.bit), at);
      return bytes;
    case 'insert':
      return Buffer.concat([bytes.subarray(0, at), change.bytes, bytes.subarray(at)]);
    case 'remove':
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + change.length)]);
    case 'copy': {
      const from = change.from % (bytes.length + 1);
      bytes.copyWithin(at, from, from + change.length);
      return bytes;
    }
    case 'truncate':
      return bytes.subarray(0, at);
  }
}
