import { WireBoundError } from '../../errors.js';
import { checkLength, clampU32, dataView } from '../binary-fields.js';
import { PAYLOAD_LIMITS } from '../frame.js';

/** How a client is doing; times and bytes count from the start of its connection. */
export interface ClientKeepalive {
  /** Bytes of the connection that the client has taken in. */
  readonly received: number;
  /** When it said so, on its own clock, microseconds. */
  readonly elapsedUs: number;
  /** How long its digest thread had nothing to do for want of bytes, microseconds. */
  readonly starvedUs: number;
  /** How long the thread that takes bytes in was at work, or ready for it and without a processor, microseconds. */
  readonly busyUs: number;
  /** Raw KiB/s that it hashes; 0 while it has nothing to tell. */
  readonly digestRate: number;
  /** Raw KiB/s that it decodes; 0 while it has nothing to tell. */
  readonly decodeRate: number;
}

/** A server's keepalive: its frontier. */
export function encodeFrontier(frontier: number): Uint8Array {
  const content = Buffer.allocUnsafe(4);
  content.writeUInt32BE(frontier, 0);
  return content;
}

export function encodeClientKeepalive(keepalive: ClientKeepalive): Uint8Array {
  const content = Buffer.allocUnsafe(PAYLOAD_LIMITS.keepalive);
  content.writeBigUInt64BE(BigInt(keepalive.received), 0);
  content.writeBigUInt64BE(BigInt(Math.round(keepalive.elapsedUs)), 8);
  content.writeBigUInt64BE(BigInt(Math.round(keepalive.starvedUs)), 16);
  content.writeBigUInt64BE(BigInt(Math.round(keepalive.busyUs)), 24);
  content.writeUInt32BE(clampU32(keepalive.digestRate), 32);
  content.writeUInt32BE(clampU32(keepalive.decodeRate), 36);
  return content;
}

export function parseClientKeepalive(content: Uint8Array): ClientKeepalive {
  checkLength(content, PAYLOAD_LIMITS.keepalive, 'keepalive');
  const view = dataView(content);
  const [received, elapsedUs, starvedUs, busyUs] = [0, 8, 16, 24].map((at) => {
    const value = view.getBigUint64(at);
    if (value <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(value);
    throw new WireBoundError('PROTOCOL', `keepalive: ${value} is not a possible count`);
  }) as [number, number, number, number];
  const [digestRate, decodeRate] = [view.getUint32(32), view.getUint32(36)];
  return { received, elapsedUs, starvedUs, busyUs, digestRate, decodeRate };
}
