export type { PluginReference, RunningServer } from './composition.js';
export type { GetEvent, GetResult } from './core/client/get-event.js';
export type { VerifyEvent, VerifyResult } from './core/client/verify-event.js';
export type { Codec } from './core/codec/codec.js';
export { type ErrorCode, WireBoundError, type WireBoundErrorOptions } from './core/errors.js';
export {
  definePlugin,
  PLUGIN_API_VERSION,
  type Plugin,
  type PluginDefinition,
  type SourceDefinition,
} from './core/plugin/plugin.js';
export type { CodecInUse, ListenAddress, ServeEvent, ServeSummary } from './core/server/serve-event.js';
export type { Sink } from './core/sink/sink.js';
export type {
  ChunkSource,
  Loan,
  OpenOptions,
  SourceIdentity,
  SourceProvider,
  StreamSource,
} from './core/source/chunk-source.js';
export { type GetFileOptions, getFile } from './library/get-file.js';
export { type ServedFile, type ServeFileOptions, serveFile } from './library/serve-file.js';
export { type VerifyFileOptions, verifyFile } from './library/verify-file.js';
