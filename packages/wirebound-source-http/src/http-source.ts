import type { ChunkSource, OpenOptions, SourceDefinition, StreamSource } from 'wirebound';
import { statusFailure } from './failures.js';
import { HTTP_LIMITS, type HttpLimits } from './http-limits.js';
import { RemoteFile } from './remote-file.js';
import { retry } from './retry.js';
import { validatorOf } from './validator.js';
import { parseWebAddress, type WebAddress } from './web-address.js';
import { type Answer, WebClient } from './web-client.js';

/**
 * The source `http`: what lies on a web server. It is read by ranges where the server has them, otherwise taken in
 * whole before it is served. Throws SOURCE_NOT_FOUND, SOURCE_UNREADABLE, and SOURCE_CHANGED from then on.
 */
export function createHttpSource(limits: HttpLimits = HTTP_LIMITS): SourceDefinition {
  return {
    name: 'http',
    scheme: ['http', 'https'],
    open: (reference, options) => open(parseWebAddress(reference), options, limits),
  };
}

async function open(
  address: WebAddress,
  { signal }: OpenOptions,
  limits: HttpLimits,
): Promise<ChunkSource | StreamSource> {
  const client = new WebClient(address, limits);
  try {
    return await retry(limits, async () => {
      signal?.throwIfAborted();
      return take(await client.ask({ range: 'bytes=0-0' }, signal), address, client, limits);
    });
  } catch (error) {
    client.close();
    throw error;
  }
}

function take(
  answer: Answer,
  address: WebAddress,
  client: WebClient,
  limits: HttpLimits,
): ChunkSource | StreamSource {
  const { status, headers } = answer;
  const [, total] = /^bytes [^/]*\/(\d+)$/i.exec(headers.get('content-range') ?? '') ?? [];
  // Nothing has no first byte; servers say so in two ways.
  const isEmpty =
    status === 416 ? Number(total) === 0 : status === 200 && headers.get('content-length') === '0';
  // A server without ranges answers with everything, so this is the content already.
  if (status === 200 && !isEmpty) return wholeBody(answer, address, client);
  answer.release();
  if (!isEmpty && (status !== 206 || total === undefined)) throw statusFailure(address.label, status);
  const found = { address, size: isEmpty ? 0 : Number(total), validator: validatorOf(headers) };
  return new RemoteFile(found, client, limits);
}

function wholeBody(answer: Answer, { name }: WebAddress, client: WebClient): StreamSource {
  const length = answer.headers.get('content-length');
  const mtimeMs = Date.parse(answer.headers.get('last-modified') ?? '');
  return {
    name,
    stream: answer.body(),
    ...(length === null ? {} : { size: Number(length) }),
    ...(Number.isFinite(mtimeMs) ? { mtimeMs } : {}),
    description: 'the server has no ranges',
    close: async () => {
      answer.release();
      client.close();
    },
  };
}
