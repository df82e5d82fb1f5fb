import lz4 from 'lz4-napi';
import { content } from './content.js';
import { serverStream } from './fault-trials.js';
import { ScriptedContent } from './scripted-peer.js';

const CHUNK = 64 * 1024;

/** A content of ten chunks, some of which compress, and what a server sends to a client that decodes LZ4. */
export function mixedStream() {
  const pieces = Array.from({ length: 10 }, (_, index) =>
    content(index % 3 === 2 ? 'log' : 'random', index === 9 ? 777 : CHUNK, index + 1),
  );
  const mixed = new ScriptedContent(Buffer.concat(pieces), CHUNK);
  const payloads = pieces.map((piece, index) =>
    index % 3 === 2 ? { codec: 1, bytes: lz4.compressSync(piece).subarray(4) } : { codec: 0, bytes: piece },
  );
  return { content: mixed, stream: serverStream(mixed, payloads) };
}
