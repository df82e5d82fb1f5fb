import type { Socket } from 'node:net';
import { loadLibcFunction } from '../libc-function.js';

/** What the kernel has noted of a connection since it was opened, and when it was read. */
export interface TcpRecord {
  /** On the monotonic clock, microseconds. */
  readonly atUs: number;
  /** Bytes that the other side's kernel has acknowledged. */
  readonly acknowledged: number;
  /** Bytes that stand behind those on their way: they would be sent if the path, or the other side, took more. */
  readonly unsent: number;
  /**
   * For how long bytes stood here that the path did not carry, microseconds, in steps of a kernel's tick: not counted is
   * the time in which there was nothing to send, or the other side's receive buffer was full.
   */
  readonly pathLimitedUs: number;
}

/** Undefined: the kernel does not say, or the socket is closed. */
export type ReadTcpRecord = (socket: Socket) => TcpRecord | undefined;

const IPPROTO_TCP = 6;
const TCP_INFO = 11;
/** `struct tcp_info` of Linux, linux/tcp.h, in units of eight bytes; one field is in units of four. */
const WORDS = 32;
const BYTES_ACKED = 15;
const NOT_SENT_HALF = 36;
const BUSY_TIME = 21;
const RWND_LIMITED = 22;
/** What a kernel must fill in at least; those before 4.10 fill in less. */
const LEAST_BYTES = (RWND_LIMITED + 1) * 8;

/**
 * How to read what Linux notes of a TCP connection (`TCP_INFO`, tcp(7)): a few microseconds, and right also where processes
 * are waiting for their turn. Undefined on other systems, and without koffi, an optional package.
 */
export async function loadTcpRecords(): Promise<ReadTcpRecord | undefined> {
  if (process.platform !== 'linux') return undefined;
  const getsockopt = await loadLibcFunction(
    'int getsockopt(int fd, int level, int name, void *value, _Inout_ uint32_t *length)',
  );
  if (getsockopt === undefined) return undefined;
  const words = new BigUint64Array(WORDS);
  const halves = new Uint32Array(words.buffer);
  return (socket) => {
    const descriptor = descriptorOf(socket);
    if (descriptor === undefined) return undefined;
    const length = [words.byteLength];
    if (getsockopt.call(descriptor, IPPROTO_TCP, TCP_INFO, words, length) !== 0) return undefined;
    if ((length[0] as number) < LEAST_BYTES) return undefined;
    const word = (at: number) => Number(words[at]);
    return {
      atUs: performance.now() * 1000,
      acknowledged: word(BYTES_ACKED),
      unsent: halves[NOT_SENT_HALF] as number,
      pathLimitedUs: word(BUSY_TIME) - word(RWND_LIMITED),
    };
  };
}

/** Node documents no way to a socket's descriptor; the handle has had it since its first version. */
function descriptorOf(socket: Socket): number | undefined {
  const { _handle: handle } = socket as unknown as { _handle?: { fd?: number } | null };
  return handle?.fd !== undefined && handle.fd >= 0 ? handle.fd : undefined;
}
