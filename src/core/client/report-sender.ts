import { encodeFrame } from '../framing/encode-frame.js';
import { encodeClientKeepalive } from '../framing/messages.js';
import { processorWaitMs } from '../processor-wait.js';
import type { StageTimes } from './stage-times.js';

/**
 * Tells the server, in keepalives, how its client is doing. One at a time: a server that asks for many and reads none
 * must not fill the memory with them.
 */
export class ReportSender {
  /** What is reported on, once there is something. */
  times: StageTimes | undefined;
  readonly #send: (frame: Uint8Array) => Promise<void>;
  readonly #received: () => number;
  readonly #openedAt = performance.now();
  readonly #idleBeforeMs = idleMs();
  /** A keepalive is on its way to the kernel, and another one is wanted. */
  #sending = false;
  #due = false;

  /** `received`: bytes of the connection that have been taken in. `send` resolves when the kernel has a frame. */
  constructor(send: (frame: Uint8Array) => Promise<void>, received: () => number) {
    this.#send = send;
    this.#received = received;
  }

  /** Sends a report, now or as soon as the last one has left. */
  send(): void {
    this.#due = this.#sending;
    if (this.#sending) return;
    this.#sending = true;
    const elapsedMs = performance.now() - this.#openedAt;
    const report = encodeClientKeepalive({
      received: this.#received(),
      elapsedUs: elapsedMs * 1000,
      starvedUs: (this.times?.starvedMs ?? 0) * 1000,
      busyUs: Math.max(0, elapsedMs - (idleMs() - this.#idleBeforeMs)) * 1000,
      digestRate: this.times?.digestRate ?? 0,
      decodeRate: this.times?.decodeRate ?? 0,
    });
    const taken = () => {
      this.#sending = false;
      if (this.#due) this.send();
    };
    this.#send(encodeFrame('keepalive', report)).then(taken, () => undefined);
  }
}

/** For how long this thread has had nothing to do, without the time in which it had and got no processor, milliseconds. */
function idleMs(): number {
  return performance.eventLoopUtilization().idle - processorWaitMs();
}
