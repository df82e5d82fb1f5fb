import { encodeFrame } from '../framing/encode-frame.js';
import { encodeEnd, encodeFrontier, type Get } from '../framing/messages.js';
import type { Connection } from '../transport/connection.js';
import type { ClientReports } from './client-reports.js';
import type { CodecChoice } from './codec-choice.js';
import type { Offer } from './offer.js';
import type { RateLimit } from './rate-limit.js';
import { type Sent, sendChunks } from './send-chunks.js';
import type { Waits } from './waits.js';

/** What answering a Get needs of the session it belongs to. */
export interface Delivery {
  readonly offer: Offer;
  readonly choice: CodecChoice;
  readonly reports: ClientReports;
  readonly waits: Waits;
  readonly rate: RateLimit;
  readonly connection: Connection;
  /** Identifies the client towards the pacer of the hashing pass. */
  readonly client: object;
  /** Ends the delivery between two frames. */
  readonly signal: AbortSignal;
  /** Sends whole frames, or pieces of one that nothing else may come between. */
  put(parts: readonly Uint8Array[]): Promise<void>;
  /** Wraps a wait between two frames. */
  whileQuiet<T>(wait: Promise<T>): Promise<T>;
  sent(sent: Sent): void;
}

/**
 * Answers a Get with its chunks, and makes the End that must follow. With an automatic choice of the codec the
 * client is asked for reports on the way: a keepalive is answered with one. Rejects like {@link sendChunks}, and
 * when the file turns out to have changed.
 */
export async function deliver(get: Get, delivery: Delivery): Promise<Uint8Array> {
  const { offer, choice, reports, waits, connection, client } = delivery;
  const end = get.first + get.count;
  if (get.reason === 'mismatch') await delivery.whileQuiet(offer.complain(get.first));
  offer.pacer.moved(client, get.first);
  let measuring = false;
  await sendChunks({
    offer,
    choice,
    rate: delivery.rate,
    waits,
    first: get.first,
    end,
    signal: delivery.signal,
    frame: ({ next, bytes, raw }) => {
      measuring = raw && choice.measuring && next < end;
      const from = connection.bytesSent;
      if (!measuring && !choice.reportDue(from)) return { before: [], after: [] };
      choice.asked(from);
      reports.asked();
      const ask = encodeFrame('keepalive', encodeFrontier(offer.chain.frontier));
      if (!measuring) return { before: [ask], after: [] };
      choice.measures(from + ask.length, from + ask.length + bytes);
      return { before: [ask], after: [ask] };
    },
    send: (parts) => delivery.put(parts),
    sent: async (sent) => {
      offer.pacer.moved(client, sent.next);
      delivery.sent(sent);
      choice.sent(sent.rawChunks * offer.geometry.chunkSize);
      if (!measuring) return;
      await waits.time('networkMs', () => reports.reaches(connection.bytesSent, delivery.signal));
    },
    whileWaiting: (wait) => delivery.whileQuiet(wait),
  }).finally(() => choice.leave());
  if (end === offer.geometry.count) {
    await waits.time(
      () => offer.passLimit,
      () => delivery.whileQuiet(offer.settled()),
    );
  }
  delivery.signal.throwIfAborted();
  return encodeFrame('end', encodeEnd(waits.totals));
}
