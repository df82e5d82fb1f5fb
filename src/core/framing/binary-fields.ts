import { WireBoundError } from '../errors.js';

/** Throws PROTOCOL unless the message `where` has that many bytes. */
export function checkLength(content: Uint8Array, length: number, where: string): void {
  if (content.length === length) return;
  throw new WireBoundError('PROTOCOL', `${where}: ${content.length} bytes instead of ${length}`);
}

/** A chunk index of a file of `count` chunks. Throws PROTOCOL. */
export function checkIndex(index: number, count: number, where: string): number {
  if (index >= count) throw new WireBoundError('PROTOCOL', `${where}: chunk ${index}, the file has ${count}`);
  return index;
}

/** The nearest number that fits into 32 bits. */
export function clampU32(value: number): number {
  return Math.min(Math.max(0, Math.round(value)), 0xffff_ffff);
}

/** The bytes as numbers, without a copy. */
export function dataView(content: Uint8Array): DataView {
  return new DataView(content.buffer, content.byteOffset, content.length);
}
