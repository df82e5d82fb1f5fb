import type { Limit } from '../framing/messages.js';

/** One address a client can connect to. */
export interface ListenAddress {
  /** The interface's name (`eth0`). */
  readonly interface: string;
  /** What to type after `wirebound get`, without the port; a link-local IPv6 address carries its zone. */
  readonly address: string;
  readonly family: 4 | 6;
  readonly internal: boolean;
}

/** What a client's chunks are sent with, and why. */
export interface CodecInUse {
  /** Its name, of the last chunks. */
  readonly codec: string;
  /** With `auto`: bytes per second that the client's link is taken to carry, once that is known to be a limit. */
  readonly linkRate?: number;
  /** With `auto`: it was chosen because the server and its many clients lack processors. */
  readonly crowded?: boolean;
}

/** What a whole session of `serve` amounted to. Counts are runs (one `get` each), not connections. */
export interface ServeSummary {
  readonly verified: number;
  readonly failed: number;
  readonly connections: number;
  readonly name: string;
  readonly size: number;
  readonly chunkSize: number;
  readonly codec: string;
  readonly sha256?: string;
  /** Bytes of file content delivered, before encoding. */
  readonly bytesSent: number;
  /** The same after encoding, without frames: `bytesSent - payloadBytes` is what the codecs have saved. */
  readonly payloadBytes: number;
  /** Bytes that went into sockets: frames and payloads. */
  readonly bytesOnWire: number;
  readonly chunksEncoded: number;
  readonly chunksRaw: number;
  /** Bytes the process read from storage (block input, page faults included). */
  readonly bytesFromStorage: number;
  /** Bytes read from a remote source (a web server, an object store); 0 for a file of this machine. */
  readonly bytesFromSource: number;
  readonly seconds: number;
  /** Seconds in which at least one transfer was active; the aggregate rate is `bytesSent` over it. */
  readonly activeSeconds: number;
  /** What limited most of the verified transfers, by their time; absent when none said. */
  readonly limitedBy?: Limit;
  /** Peak resident memory, bytes; includes pages of the mapped file. */
  readonly peakMemory: number;
}

/** What a server tells the outside, in the order it happens; with `--json`, one line each. */
export type ServeEvent =
  /** Taking in standard input, before the port is open. */
  | { readonly event: 'reading'; readonly bytes: number }
  | {
      readonly event: 'listening';
      readonly name: string;
      readonly size: number;
      readonly chunks: number;
      readonly chunkSize: number;
      readonly source: string;
      readonly codec: string;
      readonly port: number;
      readonly addresses: readonly ListenAddress[];
    }
  /** The first pass over the file, while SHA-256 is not known yet. */
  | { readonly event: 'hashing'; readonly bytes: number; readonly size: number }
  | { readonly event: 'digest'; readonly sha256: string; readonly cached: boolean }
  | {
      readonly event: 'client.connected';
      readonly client: number;
      readonly address: string;
      readonly agent: string;
    }
  | ({
      readonly event: 'client.progress';
      readonly client: number;
      readonly address: string;
      readonly bytes: number;
      readonly size: number;
    } & CodecInUse)
  | ({
      readonly event: 'client.finished';
      readonly client: number;
      readonly address: string;
      readonly verified: boolean;
      readonly bytes: number;
      readonly seconds: number;
      /** What limited the transfer, as the client has found, and the share of its time (0 to 1) behind that. */
      readonly limitedBy?: Limit;
      readonly share?: number;
      readonly code?: string;
      readonly message?: string;
    } & Partial<CodecInUse>)
  | { readonly event: 'warning'; readonly message: string }
  | { readonly event: 'draining'; readonly transfers: number; readonly etaSeconds?: number }
  | ({ readonly event: 'summary' } & ServeSummary);
