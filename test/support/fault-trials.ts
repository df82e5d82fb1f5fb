import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { ChunkIntake } from '#dist/core/client/chunk-intake.js';
import { ChunkPipeline } from '#dist/core/client/chunk-pipeline.js';
import type { GetEvent } from '#dist/core/client/get-event.js';
import type { RegisteredCodec } from '#dist/core/codec/codec-registry.js';
import { DigestThread } from '#dist/core/digest/digest-thread.js';
import { WireBoundError } from '#dist/core/errors.js';
import { encodePreamble } from '#dist/core/framing/encode-frame.js';
import { type FrameType, PAYLOAD_LIMITS } from '#dist/core/framing/frame.js';
import { FrameDecoder } from '#dist/core/framing/frame-decoder.js';
import { describeGetEvent } from '#dist/terminal/get-lines.js';
import { Random } from './random.js';
import {
  END_FRAME,
  helloBytes,
  openScriptedServer,
  type ScriptedContent,
  ScriptedPeer,
} from './scripted-peer.js';
import { testGet } from './test-server.js';
import { type Faults, ThrottlingProxy } from './throttling-proxy.js';

const CONTROL = /\p{Cc}/u;
/** Trials at the same time: enough to keep two cores busy. */
const LANES = 3;

/** Runs `trial` for 0 to `count` - 1, a few at a time. */
export async function inLanes(count: number, trial: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < count) await trial(next++);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}

/** One `get` into `folder` whose first connection suffers `faults`; it must end complete and identical. */
export async function expectSurvived(
  port: number,
  folder: string,
  expected: Uint8Array,
  faults: { readonly toClient?: Faults; readonly toServer?: Faults },
): Promise<void> {
  const proxy = await ThrottlingProxy.open(port, (connection) => (connection === 0 ? faults : {}));
  const output = join(folder, `trial-${proxy.port}`);
  try {
    const result = await testGet(proxy.port, { output });
    expect({ faults, ...result }).toMatchObject({ faults, result: 'PASS' });
    expect(Buffer.compare(await readFile(output), expected)).toBe(0);
    // Never more than the ring in flight, and a few chunks on the way, may have to come again.
    expect(proxy.bytesToClient).toBeLessThan(2 * expected.length + 4096);
  } finally {
    await proxy.close();
    await rm(output, { force: true });
  }
}

/** A server's whole stream to a client that asks for everything, and where its frames begin. */
export function serverStream(
  content: ScriptedContent,
  payloads: readonly { readonly codec: number; readonly bytes: Uint8Array }[],
): { readonly bytes: Buffer; readonly boundaries: readonly number[] } {
  const parts = [
    encodePreamble(),
    content.manifest({ codecs: ['lz4'] }),
    ...payloads.map(({ codec, bytes }, index) => content.frameWith(index, bytes, codec)),
    END_FRAME,
  ];
  let at = 0;
  const boundaries = parts.map((part) => {
    at += part.length;
    return at;
  });
  return { bytes: Buffer.concat(parts), boundaries };
}

/**
 * Flips `count` single bits of the chunk frames and the End in `stream`, half of them in what stands in front of the payloads. What comes
 * out of the client's pipeline must always be the beginning of the content. Returns how many were refused.
 */
export async function flipBits(
  content: ScriptedContent,
  stream: { readonly bytes: Buffer; readonly boundaries: readonly number[] },
  codecs: readonly RegisteredCodec[],
  count: number,
  seed: number,
): Promise<number> {
  const random = new Random(seed);
  const thread = new DigestThread();
  const pipeline = new ChunkPipeline(content.geometry, codecs, thread, { roomAgain() {}, failed() {} });
  const taken = Buffer.alloc(content.bytes.length);
  const sink = {
    location: 'memory',
    async write(spans: readonly Uint8Array[], offset: number) {
      let at = offset;
      for (const span of spans) {
        taken.set(span, at);
        at += span.length;
      }
    },
    async commit() {},
    async discard() {},
  };
  const [, start = 0] = stream.boundaries;
  let refused = 0;
  try {
    for (let trial = 0; trial < count; trial++) {
      await pipeline.rewind(true);
      pipeline.sink = sink;
      const boundary = random.pick(stream.boundaries.slice(1, -1));
      const at =
        trial % 2 === 0 ? boundary + random.below(44) : start + random.below(stream.bytes.length - start);
      const flipAt = Math.min(at, stream.bytes.length - 1);
      const bit = 1 << random.below(8);
      stream.bytes.writeUInt8(stream.bytes.readUInt8(flipAt) ^ bit, flipAt);
      let accepted = true;
      try {
        await feedPipeline(pipeline, stream.bytes.subarray(start));
      } catch (error) {
        if (!(error instanceof WireBoundError)) throw error;
        accepted = false;
      }
      stream.bytes.writeUInt8(stream.bytes.readUInt8(flipAt) ^ bit, flipAt);
      const verified = pipeline.verifiedBytes;
      const right = taken.subarray(0, verified).equals(content.bytes.subarray(0, verified));
      // The End carries times, for people, and nothing of the file. And LZ4 has several payloads for one chunk:
      // one that still decodes to exactly that chunk does no harm. Every other byte counts.
      const inEnd = flipAt >= stream.bytes.length - END_FRAME.length;
      const inHeader = stream.boundaries.some((edge) => flipAt >= edge && flipAt < edge + 44);
      const harmless = inEnd || (right && !inHeader);
      if (!right || (accepted && !harmless)) throw new Error(`bit ${bit} of byte ${flipAt} was accepted`);
      if (!accepted) refused++;
    }
  } finally {
    await pipeline.close();
    await thread.close();
  }
  return refused;
}

async function feedPipeline(pipeline: ChunkPipeline, bytes: Uint8Array): Promise<void> {
  const intake = new ChunkIntake(pipeline, [1]);
  let ended = false;
  const decoder = new FrameDecoder({
    limit: (type: FrameType) => {
      if (type === 'chunk') return intake.payloadLimit;
      return type === 'end' || type === 'error' || type === 'keepalive' ? PAYLOAD_LIMITS[type] : undefined;
    },
    place: (header) => (header.type === 'chunk' ? intake.place(header) : undefined),
    receive: (frame) => {
      if (frame.header.type === 'chunk') intake.receive(frame);
      else if (frame.header.type === 'end') {
        intake.end();
        ended = true;
      }
    },
  });
  decoder.target.set(encodePreamble());
  decoder.accept(8);
  try {
    for (let at = 0; at < bytes.length && !ended; ) {
      await pipeline.room();
      const piece = bytes.subarray(at, at + decoder.target.length);
      decoder.target.set(piece);
      decoder.accept(piece.length);
      at += piece.length;
    }
    if (!ended) throw new WireBoundError('CONNECTION_LOST', 'no End');
  } finally {
    await pipeline.settle();
  }
}

/** Sends `count` broken hellos to a server in this process. */
export async function fuzzHellos(port: number, count: number, seed: number): Promise<void> {
  await inLanes(count, async (index) => {
    const random = new Random(seed + index);
    const peer = await ScriptedPeer.connect(port);
    const bytes = index % 5 === 0 ? random.bytes(1 + random.below(3000)) : random.mutate(helloBytes());
    await peer.send(bytes);
    peer.socket.end();
    await peer.over();
  });
}

/**
 * Lets `count` clients get from servers whose streams are broken, into `folder` under whatever name the server
 * says. Nothing but the right bytes may be published, nothing outside the folder, and no line may hold a control byte.
 */
export async function fuzzServerStreams(
  content: ScriptedContent,
  stream: Buffer,
  folder: string,
  count: number,
  seed: number,
): Promise<void> {
  let trial = 0;
  const server = await openScriptedServer(async (peer) => {
    const random = new Random(seed + trial);
    const names = ['../escaped', 'a/b', '\u001b]0;pwn\u0007', 'x\r\ny', '\u009b31m', '..', ''];
    const hostile = Buffer.concat([
      encodePreamble(),
      content.manifest({ codecs: ['lz4'], entry: { path: random.pick(names) } }),
      stream.subarray(8),
    ]);
    await peer.frame('hello');
    await peer.send(random.mutate(trial % 4 === 0 ? hostile : stream));
    peer.socket.end();
  });
  try {
    for (; trial < count; trial++) {
      const events: GetEvent[] = [];
      const result = await testGet(server.port, { output: folder, retryForMs: 0 }, events).catch(
        (error) => error,
      );
      const told = result instanceof WireBoundError ? [] : describeGetEvent({ event: 'result', ...result });
      for (const line of [...events.flatMap(describeGetEvent), ...told]) {
        if (CONTROL.test(line)) throw new Error(`seed ${seed + trial} prints ${JSON.stringify(line)}`);
      }
      if (result.code === 'INTERNAL' || (result instanceof Error && !(result instanceof WireBoundError))) {
        throw new Error(`seed ${seed + trial} is not an expected failure: ${result.stack ?? result.message}`);
      }
      for (const name of await readdir(folder)) {
        if (!name.endsWith('.wirebound')) {
          expect(result.result).toBe('PASS');
          expect(Buffer.compare(await readFile(join(folder, name)), content.bytes)).toBe(0);
        }
        await rm(join(folder, name));
      }
    }
  } finally {
    await server.close();
  }
}
