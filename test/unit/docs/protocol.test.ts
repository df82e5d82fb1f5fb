import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { WireBoundError } from '#dist/core/errors.js';
import { encodeChunkHeader, encodeFrame, encodePreamble } from '#dist/core/framing/encode-frame.js';
import { FRAME, type FrameType, MAGIC, MAX_ASK, PAYLOAD_LIMITS } from '#dist/core/framing/frame.js';
import { encodeManifest, type Manifest, parseManifest } from '#dist/core/framing/manifest.js';
import {
  encodeAsk,
  encodeClientKeepalive,
  encodeDigests,
  encodeEnd,
  encodeError,
  encodeFrontier,
  encodeGet,
  encodeHello,
  encodeVerdict,
  parseAsk,
  parseClientKeepalive,
  parseDigests,
  parseEnd,
  parseError,
  parseGet,
  parseHello,
  parseVerdict,
} from '#dist/core/framing/messages.js';
import { refusal } from '#dist/core/server/refuse.js';
import { decodeFrames } from '../../support/feed-decoder.js';
import { hexBlocks, saidBy } from '../../support/hex-blocks.js';
import { readMarkdown, sectionOf, tableRows } from '../../support/markdown.js';

const text = readMarkdown('docs/protocol.md');
const [session = [], keepalives = [], busy = []] = hexBlocks(text);
const anyLength = () => 65_536;
const EMPTY = Buffer.alloc(0);

const CONTENT = Buffer.from('abc');
const DIGEST = createHash('sha256').update(CONTENT).digest();
const HELLO = {
  agent: 'wirebound/0.1.0',
  codecs: ['lz4', 'deflate'],
  run: '00112233445566778899aabbccddeeff',
};
const MANIFEST: Manifest = {
  entries: [
    {
      path: 'abc.txt',
      size: 3,
      mtimeMs: 1_767_225_600_000,
      executable: false,
      sha256: DIGEST.toString('hex'),
    },
  ],
  chunkSize: 65_536,
  codecs: ['lz4'],
  transfer: '0123456789abcdef',
};
const GET = { first: 0, count: 1, reason: 'first' } as const;
const WAITS = { sourceMs: 1, digestMs: 0, codecMs: 0, rateMs: 0, networkMs: 2 };
const VERDICT = { verified: true, limitedBy: 'network', share: 0.75 } as const;
const KEEPALIVE = {
  received: 1_048_576,
  elapsedUs: 2_000_000,
  starvedUs: 1_500_000,
  busyUs: 250_000,
  digestRate: 1_228_800,
  decodeRate: 0,
};
const BUSY = new WireBoundError('BUSY', 'the server already serves 3 clients, as many as it may');

describe('the session in docs/protocol.md', () => {
  test('what its client says is decoded to what the text says', () => {
    const { frames, error } = decodeFrames(saidBy('C', session), anyLength);
    expect(error).toBeUndefined();
    expect(frames.map(({ type }) => type)).toEqual(['hello', 'ask', 'get', 'verdict']);
    expect(frames.every(({ codec, entry }) => codec === 0 && entry === 0)).toBe(true);
    const [hello = EMPTY, ask = EMPTY, get = EMPTY, verdict = EMPTY] = frames.map(({ content }) => content);
    expect(parseHello(hello)).toEqual(HELLO);
    expect(parseAsk(ask, 1)).toEqual([0]);
    expect(parseGet(get, 1)).toEqual(GET);
    expect(parseVerdict(verdict)).toEqual(VERDICT);
  });

  test('what its server says is decoded to what the text says', () => {
    const { frames, error } = decodeFrames(saidBy('S', session), anyLength);
    expect(error).toBeUndefined();
    expect(frames.map(({ type }) => type)).toEqual(['manifest', 'digests', 'chunk', 'end']);
    expect(frames.every(({ codec, entry }) => codec === 0 && entry === 0)).toBe(true);
    const [manifest = EMPTY, digests = EMPTY, chunk = EMPTY, end = EMPTY] = frames.map(
      ({ content }) => content,
    );
    expect(parseManifest(manifest, HELLO.codecs)).toEqual(MANIFEST);
    const known = parseDigests(digests, 1);
    expect([known.frontier, [...known.digests.keys()]]).toEqual([1, [0]]);
    expect(Buffer.from(known.digests.get(0) ?? EMPTY)).toEqual(DIGEST);
    expect(chunk.readUInt32BE(0)).toBe(0);
    expect(chunk.subarray(4, 36)).toEqual(DIGEST);
    expect(chunk.subarray(36)).toEqual(CONTENT);
    expect(parseEnd(end)).toEqual(WAITS);
  });

  test('the encoder makes the same bytes', () => {
    const digests = encodeDigests(1, new Map([[0, DIGEST]]));
    const made = [
      ['C', encodePreamble(), encodeFrame('hello', encodeHello(HELLO))],
      ['S', encodePreamble(), encodeFrame('manifest', encodeManifest(MANIFEST))],
      ['C', encodeFrame('ask', encodeAsk([0]))],
      ['S', encodeFrame('digests', digests)],
      ['C', encodeFrame('get', encodeGet(GET))],
      ['S', encodeChunkHeader(0, 0, 0, 3, DIGEST), CONTENT, encodeFrame('end', encodeEnd(WAITS))],
      ['C', encodeFrame('verdict', encodeVerdict(VERDICT))],
    ] as const;
    expect(session).toEqual(made.map(([side, ...parts]) => ({ side, bytes: Buffer.concat(parts) })));
  });

  test('the words beside the bytes of JSON are those bytes', () => {
    const block = /^```hex\n([\s\S]*?)^```$/m.exec(text)?.[1] ?? '';
    const beside = [...block.matchAll(/^[CS] {2}([0-9a-f ]{47}) {2}(\S.*)$/gm)].filter(([, hex = '']) =>
      Buffer.from(hex.replaceAll(' ', ''), 'hex').every((byte) => byte >= 0x20 && byte < 0x7f),
    );
    expect(beside.length).toBeGreaterThan(15);
    for (const [, hex = '', words] of beside) {
      if (words !== 'payload: "abc"') {
        expect(words).toBe(Buffer.from(hex.replaceAll(' ', ''), 'hex').toString());
      }
    }
  });
});

describe('the other examples in docs/protocol.md', () => {
  test('the keepalives are what both sides would send', () => {
    const [server = EMPTY, client = EMPTY] = [saidBy('S', keepalives), saidBy('C', keepalives)];
    expect(server).toEqual(encodeFrame('keepalive', encodeFrontier(1)));
    expect(client).toEqual(encodeFrame('keepalive', encodeClientKeepalive(KEEPALIVE)));
    expect(parseClientKeepalive(client.subarray(8))).toEqual(KEEPALIVE);
  });

  test('the busy server is what a refused client hears', () => {
    const bytes = saidBy('S', busy);
    expect(bytes).toEqual(Buffer.from(refusal(BUSY, { firstBytes: EMPTY, greeted: false, command: '' })));
    const [frame] = decodeFrames(bytes, anyLength).frames;
    expect(parseError(frame?.content ?? EMPTY)).toEqual({ code: 'BUSY', message: BUSY.message });
    expect(bytes.subarray(8)).toEqual(encodeFrame('error', encodeError(BUSY)));
  });

  test('the HTTP answer is the one that a browser gets', () => {
    const answer = refusal(new WireBoundError('NOT_WIREBOUND', 'x'), {
      firstBytes: Buffer.from('GET /'),
      greeted: false,
      command: 'wirebound get 192.168.1.20:6767',
    });
    const lines = [...sectionOf(text, 'Strangers').matchAll(/^ {4}(.*)$/gm)].map(([, line = '']) => line);
    expect(lines.join('').replaceAll('\\r', '\r').replaceAll('\\n', '\n')).toBe(
      Buffer.from(answer).toString(),
    );
  });
});

describe('the tables of docs/protocol.md', () => {
  test('frame types have the numbers and limits of the code', () => {
    const rows = tableRows(sectionOf(text, 'Frame types').split('### ')[0] ?? '');
    expect(rows.map(([number, type]) => [type, Number(number)])).toEqual(Object.entries(FRAME));
    for (const [, type = '', , limit] of rows) {
      if (type !== 'chunk') {
        expect([type, Number(limit)]).toEqual([type, PAYLOAD_LIMITS[type as Exclude<FrameType, 'chunk'>]]);
      }
    }
    expect(text).toContain(`1 to ${MAX_ASK} chunk indexes`);
    expect(text).toContain(`\`${Buffer.from(MAGIC).toString('hex').replace(/..\B/g, '$& ')}\``);
  });

  test.each(Object.keys(FRAME))('the frame %s has a section', (type) => {
    const number = FRAME[type as FrameType];
    const heading = `${type.charAt(0).toUpperCase()}${type.slice(1)} (${number})`;
    expect(sectionOf(text, heading).length).toBeGreaterThan(heading.length + 20);
  });
});
