import type { RegisteredCodec } from '../codec/codec-registry.js';
import { WireBoundError } from '../errors.js';
import type { FrameHeader } from '../framing/frame.js';
import type { Frame } from '../framing/frame-decoder.js';
import type { Manifest } from '../framing/manifest.js';
import type { ChunkPipeline } from './chunk-pipeline.js';
import type { ChunkReceiver } from './incoming.js';

/**
 * Takes the chunks of a connection into a pipeline, in the order of the file and nothing else: a wrong index, a
 * wrong length or an early End is a PROTOCOL error.
 */
export class ChunkIntake implements ChunkReceiver {
  readonly #pipeline: ChunkPipeline;
  readonly #codecNumbers: readonly number[];
  readonly #end: number;

  /** `codecNumbers`: the pipeline's number for each codec of the manifest; `end`: the chunk after the last one asked for. */
  constructor(
    pipeline: ChunkPipeline,
    codecNumbers: readonly number[],
    end: number = pipeline.geometry.count,
  ) {
    this.#pipeline = pipeline;
    this.#codecNumbers = codecNumbers;
    this.#end = end;
  }

  get payloadLimit(): number {
    const { next, geometry } = this.#pipeline;
    return next < this.#end ? geometry.rawLength(next) : 0;
  }

  get full(): boolean {
    return this.#pipeline.full;
  }

  place(header: FrameHeader): Uint8Array {
    const { next, geometry, ring } = this.#pipeline;
    const where = `chunk ${next} of ${geometry.count}`;
    if (next >= this.#end) {
      const all = next === geometry.count;
      const message = all ? `more than the ${geometry.count} chunks came` : `${where} was not asked for`;
      throw new WireBoundError('PROTOCOL', message);
    }
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
    if (next === this.#end) return;
    const received = geometry.offset(next);
    throw new WireBoundError('PROTOCOL', `the server ended after ${received} of ${geometry.size} bytes`);
  }
}

/** The place in `codecs` of each codec that a manifest names, counted from 1. */
export function codecNumbers(manifest: Manifest, codecs: readonly RegisteredCodec[]): readonly number[] {
  return manifest.codecs.map((name) => 1 + codecs.findIndex(({ codec }) => codec.name === name));
}
