import { describe, expect, test } from '@jest/globals';
import { decompress } from 'fzstd';
import { codecContract } from 'wirebound/testing';
import { createCodec } from '../dist/create-codec.js';
import { frameContentSize } from '../dist/frame-content-size.js';
import plugin from '../dist/index.js';
import { nodeEngine } from '../dist/node-engine.js';
import { wasmEngine } from '../dist/wasm-engine.js';

const node = nodeEngine();
const wasm = await wasmEngine();
const text = Buffer.alloc(300_000, 'the same words, again and again, and some more of them; ');

describe.each([
  ['Node, where it has zstd', node],
  ['WebAssembly', wasm],
])('zstd of %s', (_, engine) => {
  const run = engine === undefined ? test.skip : test;
  const codec = createCodec(engine ?? wasm);

  for (const { title, run: keeps } of codecContract(codec)) run(title, keeps);

  run('makes frames that others decode, and that say how large they are', async () => {
    for (const chunk of [
      text,
      text.subarray(0, 1),
      text.subarray(0, 255),
      text.subarray(0, 256),
      Buffer.alloc(2 ** 20),
    ]) {
      const payload = await codec.encode(chunk);
      expect(frameContentSize(payload)).toBe(chunk.length);
      expect(Buffer.compare(decompress(payload), chunk)).toBe(0);
    }
  });

  run('decodes what the other engine made', async () => {
    const payload = await createCodec(engine === node ? wasm : (node ?? wasm)).encode(text);
    expect(Buffer.compare(await codec.decode(payload, text.length), text)).toBe(0);
  });

  run('refuses a frame that says another size, before the engine sees it', async () => {
    const payload = Buffer.from(await codec.encode(text));
    const at = payload.indexOf(Buffer.from([0xe0, 0x93, 0x04, 0x00])); // 300,000
    payload.writeUInt32LE(0xffffffff, at);
    expect(() => codec.decode(payload, text.length)).toThrow('its frame says 4294967295 bytes');
  });
});

describe('a payload that is no frame', () => {
  test.each([
    ['empty', ''],
    ['something else', '28b52ffe00000000'],
    ['a skippable frame', '502a4d180400000000000000'],
    ['cut in its header', '28b52ffda0e093'],
    ['of unknown size', '28b52ffd00580100'],
  ])('is refused: %s', (_, hex) => {
    expect(() => plugin.codecs[0]?.decode(Buffer.from(hex, 'hex'), 100)).toThrow();
  });
});
