import { encodeManifest } from '../framing/manifest.js';
import { type ClientKeepalive, encodeDigests, type Get } from '../framing/messages.js';
import { ClientReports } from './client-reports.js';
import type { CodecChoice } from './codec-choice.js';
import { createManifest } from './create-manifest.js';
import { type Delivery, deliver } from './deliver.js';
import type { Offer } from './offer.js';
import type { Run } from './run-ledger.js';
import { Waits } from './waits.js';

/** What answering a Get needs of the connection. */
export type DeliveryPath = Pick<Delivery, 'rate' | 'connection' | 'signal' | 'put' | 'whileQuiet' | 'sent'>;

/** The client of one session, once it has been let in: what it is offered, and what it says of itself. */
export class AdmittedClient {
  readonly run: Run;
  readonly offer: Offer;
  readonly choice: CodecChoice;
  readonly #waits = new Waits();
  readonly #reports = new ClientReports(this.#waits);

  constructor(run: Run, offer: Offer, choice: CodecChoice) {
    this.run = run;
    this.offer = offer;
    this.choice = choice;
  }

  /** Bytes that it says it has received; undefined before its first keepalive. */
  get received(): number | undefined {
    return this.#reports.received;
  }

  /** The content of its Manifest. */
  manifest(): Uint8Array {
    return encodeManifest(createManifest(this.offer, this.choice.names));
  }

  /** The content of the answer to an Ask. */
  digests(indexes: readonly number[]): Uint8Array {
    const { chain, pacer } = this.offer;
    pacer.moved(this, Math.max(0, ...indexes));
    const known = indexes
      .filter((index) => index < chain.frontier)
      .map((index) => [index, chain.digest(index)] as const);
    return encodeDigests(chain.frontier, new Map(known));
  }

  /** Sends the chunks of a Get and makes the End frame that must follow; see {@link deliver}. */
  deliver(get: Get, path: DeliveryPath): Promise<Uint8Array> {
    return deliver(get, {
      ...path,
      offer: this.offer,
      choice: this.choice,
      reports: this.#reports,
      waits: this.#waits,
      client: this,
    });
  }

  /** Takes what it says in a keepalive. */
  report(report: ClientKeepalive): void {
    this.choice.report(report, this.#reports.take(report));
  }

  /** Nobody waits for it any more. */
  leave(): void {
    this.offer.pacer.left(this);
  }
}
