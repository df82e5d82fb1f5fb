/** What is inside the frames; one file for each kind. */
export { encodeAsk, parseAsk } from './messages/ask.js';
export { type Digests, encodeDigests, parseDigests } from './messages/digests.js';
export { encodeEnd, parseEnd, type ServerWaits } from './messages/end.js';
export { encodeError, type PeerError, parseError } from './messages/error.js';
export { encodeGet, type Get, type GetReason, parseGet } from './messages/get.js';
export { encodeHello, type Hello, parseHello } from './messages/hello.js';
export {
  type ClientKeepalive,
  encodeClientKeepalive,
  encodeFrontier,
  parseClientKeepalive,
} from './messages/keepalive.js';
export { encodeVerdict, LIMITS, type Limit, parseVerdict, type Verdict } from './messages/verdict.js';
