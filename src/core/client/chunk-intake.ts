import { WireBoundError } from '../errors.js';
import type { FrameHeader } from '../framing/frame.js';
import type { Frame } from '../framing/frame-decoder.js';
import type { ChunkPipeline } from './chunk-pipeline.js';
import type { ChunkReceiver } from './link.js';

/**
 * Takes the chunks of a connection into a pipeline, in the order of the file and nothing else: a wrong index, a
 * wrong length or an early End is a PROTOCOL error.
 */
export class ChunkIntake implements ChunkReceiver {
  readonly #pipeline: ChunkPipeline;
  readonly #codecNumbers: readonly number[];

  /** `codecNumbers`: the pipeline's number for each codec of the manifest. */
  constructor(pipeline: ChunkPipeline, codecNumbers: readonly number[]) {
    this.#pipeline = pipeline;
    this.#codecNumbers = codecNumbers;
  }

  get payloadLimit(): number {
    const { next, geometry } = this.#pipeline;
    return next < geometry.count ? geometry.rawLength(next) : 0;
  }

  get full(): boolean {
    return this.#pipeline.full;
  }

  place(header: FrameHeader): Uint8Array {
    const { next, geometry, ring } = this.#pipeline;
    const where = `chunk ${next} of ${geometry.count}`;
    if (next >= geometry.count)
      throw new WireBoundError('PROTOCOL', `more than the ${geometry.count} chunks came`);
    const rawLength = geometry.rawLength(next);
    if (header.codec > this.#codecNumbers.length) {
      throw new WireBoundError('PROTOCOL', `${where} names the unknown codec number ${header.codec}`);
    }
    if (header.entry !== 0) {
      throw new WireBoundError('PROTOCOL', `${where} is of entry ${header.entry}, there is only entry 0`);
    }
    const right =
      header.codec === 0 ? header.length === rawLength : header.length > 0 && header.length < rawLength;
    if (!right) {
      throw new WireBoundError(
        'PROTOCOL',
        `${where} has ${header.length} bytes of payload for ${rawLength} raw ones`,
      );
    }
    return ring.frameSpace(next, header.length);
  }

  receive({ header, content }: Frame): void {
    const { next, geometry } = this.#pipeline;
    const index = new DataView(content.buffer, content.byteOffset).getUint32(0);
    if (index !== next) {
      throw new WireBoundError(
        'PROTOCOL',
        `chunk ${index} came where chunk ${next} of ${geometry.count} was due`,
      );
    }
    this.#pipeline.submit(
      header.codec === 0 ? 0 : (this.#codecNumbers[header.codec - 1] as number),
      header.length,
    );
  }

  end(): void {
    const { next, geometry } = this.#pipeline;
    if (next === geometry.count) return;
    const received = geometry.offset(next);
    throw new WireBoundError('PROTOCOL', `the server ended after ${received} of ${geometry.size} bytes`);
  }
}
