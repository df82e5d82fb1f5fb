import type { GetEvent, GetResult } from './core/client/get-event.js';
import type { VerifyEvent, VerifyResult } from './core/client/verify-event.js';
import type { CodecListing } from './core/codec/codec-registry.js';
import type { WireBoundError } from './core/errors.js';
import type { Plugin } from './core/plugin/plugin.js';
import type { PluginListing } from './core/plugin/plugin-shelf.js';
import type { ServeEvent, ServeSummary } from './core/server/serve-event.js';
import type { SourceListing } from './core/source/source-registry.js';

/** What `wirebound serve` asks for. */
export interface ServeRequest {
  /** A path, `-`, or whatever a source plugin accepts. */
  readonly reference: string;
  /** `auto`, `none`, or the name of a codec. */
  readonly codec: string;
  /** Bytes for encoded and read chunks that clients share. */
  readonly cacheBytes: number;
  /** Bytes. */
  readonly chunkSize: number;
  /** 0 picks one. */
  readonly port: number;
  /** Undefined: all interfaces. */
  readonly host?: string;
  /** `auto`, or the name of a source. */
  readonly source: string;
  readonly name?: string;
  readonly maxClients?: number;
  readonly until?: number;
  readonly bytesPerSecond?: number;
  /** Does not trust the digests kept from earlier runs. */
  readonly rehash: boolean;
  /** Bytes for content that has to be held in memory; half of what the machine, or its container, has unless given. */
  readonly memoryLimit?: number;
  readonly onEvent: (event: ServeEvent) => void;
}

/** A server whose port is open. */
export interface RunningServer {
  /** Takes no new runs; `finished` resolves when the open ones have ended. */
  drain(): void;
  /** Ends now. */
  stop(): void;
  readonly finished: Promise<ServeSummary>;
}

/** What `wirebound get` asks for. */
export interface GetRequest {
  readonly host: string;
  readonly port: number;
  /** A file, a folder, `-`, `/dev/null`; undefined: the current folder. */
  readonly output?: string;
  readonly force: boolean;
  /** SHA-256 the file must have, lower-case hex. */
  readonly expect?: string;
  readonly waitMs: number;
  readonly retryForMs: number;
  /** Silence after which a connection is given up, milliseconds; 60 s unless given. */
  readonly idleTimeoutMs?: number;
  readonly signal: AbortSignal;
  readonly onEvent: (event: GetEvent) => void;
}

/** A plugin to use: what {@link resolvePlugin} takes, or the plugin itself. */
export type PluginReference = string | Plugin;

/** What `wirebound verify` asks for. */
export interface VerifyRequest {
  readonly host: string;
  readonly port: number;
  /** The local file. */
  readonly path: string;
  /** Put what was fetched in the place of what is not right. */
  readonly repair: boolean;
  readonly waitMs: number;
  readonly retryForMs: number;
  /** Silence after which the server is given up, milliseconds; 60 s unless given. */
  readonly idleTimeoutMs?: number;
  readonly signal: AbortSignal;
  readonly onEvent: (event: VerifyEvent) => void;
}

/** Everything the commands can do. */
export interface App {
  codecs(): readonly CodecListing[];
  sources(): readonly SourceListing[];
  plugins(): readonly PluginListing[];
  /** What is wrong with plugins that nobody asked for by name. */
  pluginFailures(): readonly WireBoundError[];
  /** Resolves once clients can connect; `signal` cancels everything before that. */
  serve(request: ServeRequest, signal: AbortSignal): Promise<RunningServer>;
  /** See `getFile` of core/client for what resolves and what rejects. */
  get(request: GetRequest): Promise<GetResult>;
  /** See `verifyFile` of core/client for what rejects. */
  verify(request: VerifyRequest): Promise<VerifyResult>;
}
