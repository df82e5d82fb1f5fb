import { expect, test } from '@jest/globals';
import { encodeFrame, encodePreamble } from '#dist/core/framing/encode-frame.js';
import { FRAME } from '#dist/core/framing/frame.js';
import { encodeGet, encodeHello, encodeVerdict, type Verdict } from '#dist/core/framing/messages.js';
import { Crowd } from '#dist/core/server/crowd.js';
import { RateLimit } from '#dist/core/server/rate-limit.js';
import type { Run } from '#dist/core/server/run-ledger.js';
import { SERVE_LIMITS } from '#dist/core/server/serve-limits.js';
import { Session, type SessionHost } from '#dist/core/server/session.js';
import type { Connection } from '#dist/core/transport/connection.js';
import { openTestOffer } from '../../../support/test-offer.js';
import { TestSource } from '../../../support/test-source.js';

const RUN: Run = {
  number: 1,
  id: 'ab'.repeat(16),
  startedAtMs: 0,
  state: 'active',
  address: 'test',
  bytes: 0,
};

/** A connection whose writes are done when the test says so: a busy server learns late what has left long ago. */
function lateConnection() {
  const gone = new AbortController();
  const sent: { readonly type: number; done(): void }[] = [];
  let told = (): void => {};
  const connection = {
    peer: 'test',
    here: 'test',
    gone: gone.signal,
    bytesSent: 0,
    bytesHandedOver: 0,
    send: (parts: readonly Uint8Array[]) =>
      new Promise<void>((done) => {
        const frame = parts.at(-1) as Uint8Array;
        sent.push({ type: frame[0] as number, done });
        told();
      }),
    finish: async () => gone.abort(new Error('finished')),
    destroy: () => gone.abort(new Error('destroyed')),
  };
  return {
    connection: connection as unknown as Connection,
    /** The next write, which is not done yet. */
    async next() {
      while (sent.length === 0) {
        await new Promise<void>((resolve) => {
          told = resolve;
        });
      }
      return sent.shift() as (typeof sent)[number];
    },
  };
}

test('a verdict is taken although the server has not learned yet that its End has left', async () => {
  const { offer } = await openTestOffer(new TestSource(Buffer.from('content')));
  await offer.settled();
  const { connection, next } = lateConnection();
  const verdicts: Verdict[] = [];
  const host: SessionHost = {
    limits: SERVE_LIMITS,
    rate: new RateLimit(undefined),
    codecs: { names: [], automatic: false },
    crowd: new Crowd(),
    admit: async () => ({ run: RUN, offer }),
    sent: () => undefined,
    concluded: (_, verdict) => void verdicts.push(verdict),
    ended: () => undefined,
  };
  const session = new Session(connection, host);
  const hello = encodeHello({ agent: 'test', codecs: [], run: RUN.id });
  session.feed(Buffer.concat([encodePreamble(), encodeFrame('hello', hello)]));
  (await next()).done();
  await new Promise(setImmediate);
  session.feed(encodeFrame('get', encodeGet({ first: 1, count: 0, reason: 'lost' })));
  const end = await next();
  expect(end.type).toBe(FRAME.end);
  session.feed(encodeFrame('verdict', encodeVerdict({ verified: true })));
  expect(verdicts).toEqual([{ verified: true }]);
  end.done();
  await offer.close();
});
