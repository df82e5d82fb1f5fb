import { WireBoundError } from '../errors.js';
import {
  contentLength,
  FRAME_TYPES,
  type FrameHeader,
  type FrameType,
  HEADER_LENGTH,
  MAGIC,
  PREAMBLE_LENGTH,
  PROTOCOL_VERSION,
} from './frame.js';

/** A frame that has arrived whole. */
export interface Frame {
  readonly header: FrameHeader;
  /** What followed the header (for a Chunk: fields, then payload); the receiver's to keep. */
  readonly content: Uint8Array;
}

/** What one side of a connection takes, and where it goes. */
export interface FrameRules {
  /** The longest payload acceptable for this type now, bytes; undefined when the type itself is not. */
  limit(type: FrameType): number | undefined;
  /**
   * Memory for a frame's content and the header behind it, at least `contentLength(header) + 8` bytes; asked
   * once per frame that has content, before that arrives. Without it the decoder makes fresh memory.
   */
  place?(header: FrameHeader): Uint8Array | undefined;
  /** Called for every whole frame, in order. What it throws comes out of `accept`. */
  receive(frame: Frame): void;
}

/**
 * Turns bytes into frames without a socket: the owner fills a prefix of `target` and says how much with
 * `accept`. `target` never reaches past the header of the next frame, so a payload lands where it will stay
 * and nothing is ever left over.
 *
 * `accept` throws NOT_WIREBOUND as soon as the first bytes differ from the magic, VERSION_MISMATCH,
 * PROTOCOL for unknown types and lengths over the limit, and INTERNAL when the memory that `place` gave is too
 * small. After that the decoder is of no more use.
 */
export class FrameDecoder {
  readonly #rules: FrameRules;
  readonly #headerBytes = new Uint8Array(HEADER_LENGTH);
  #greeted = false;
  #header: FrameHeader | undefined;
  /** Where content and the header behind it go, cut to that length; undefined while a header is awaited. */
  #content: Uint8Array | undefined;
  #filled = 0;

  constructor(rules: FrameRules) {
    this.#rules = rules;
  }

  /** Where the next bytes belong; never empty. */
  get target(): Uint8Array {
    return (this.#content ?? this.#headerBytes).subarray(this.#filled);
  }

  /** Whether the other side's preamble has been seen and is right. */
  get greeted(): boolean {
    return this.#greeted;
  }

  /** Whether the bytes so far end exactly between two frames. */
  get betweenFrames(): boolean {
    return this.#greeted && this.#content === undefined && this.#filled === 0;
  }

  /** Says that `count` bytes (1 to `target.length`) were put into `target`. */
  accept(count: number): void {
    this.#filled += count;
    if (this.#content !== undefined) this.#acceptContent(this.#content);
    else if (this.#greeted) this.#acceptHeader();
    else this.#acceptPreamble();
  }

  #acceptPreamble(): void {
    const seen = this.#headerBytes.subarray(0, this.#filled);
    if (seen.some((byte, at) => at < MAGIC.length && byte !== MAGIC[at])) {
      throw new WireBoundError('NOT_WIREBOUND', 'the other side does not speak the WireBound protocol');
    }
    if (this.#filled < PREAMBLE_LENGTH) return;
    const version = ((seen[6] as number) << 8) | (seen[7] as number);
    if (version !== PROTOCOL_VERSION) {
      throw new WireBoundError(
        'VERSION_MISMATCH',
        `the other side speaks protocol version ${version}, this program speaks version ${PROTOCOL_VERSION}`,
        { suggestions: ['install the same version of wirebound on both machines'] },
      );
    }
    this.#greeted = true;
    this.#filled = 0;
  }

  #acceptHeader(): void {
    if (this.#filled < HEADER_LENGTH) return;
    this.#filled = 0;
    const header = parseHeader(this.#headerBytes, this.#rules);
    const length = contentLength(header);
    if (length === 0) {
      this.#rules.receive({ header, content: new Uint8Array(0) });
      return;
    }
    const needed = length + HEADER_LENGTH;
    const memory = this.#rules.place?.(header) ?? new Uint8Array(needed);
    if (memory.length < needed) {
      throw new WireBoundError('INTERNAL', `a frame needs ${needed} bytes of memory, not ${memory.length}`);
    }
    this.#header = header;
    this.#content = memory.subarray(0, needed);
  }

  #acceptContent(content: Uint8Array): void {
    const length = content.length - HEADER_LENGTH;
    if (this.#filled < length) return;
    const header = this.#header as FrameHeader;
    // The bytes behind the content leave its memory now: from `receive` on it belongs to somebody else.
    this.#headerBytes.set(content.subarray(length, this.#filled));
    this.#filled -= length;
    this.#content = undefined;
    this.#rules.receive({ header, content: content.subarray(0, length) });
    this.#acceptHeader();
  }
}

function parseHeader(bytes: Uint8Array, rules: FrameRules): FrameHeader {
  const view = new DataView(bytes.buffer, bytes.byteOffset, HEADER_LENGTH);
  const type = FRAME_TYPES.get(view.getUint8(0));
  if (type === undefined) throw new WireBoundError('PROTOCOL', `unknown frame type ${view.getUint8(0)}`);
  const limit = rules.limit(type);
  if (limit === undefined)
    throw new WireBoundError('PROTOCOL', `a frame of type ${type} is not allowed here`);
  const length = view.getUint32(4);
  if (length > limit) {
    throw new WireBoundError(
      'PROTOCOL',
      `a frame of type ${type} announces ${length} bytes, the limit is ${limit}`,
    );
  }
  return { type, codec: view.getUint8(1), entry: view.getUint16(2), length };
}
