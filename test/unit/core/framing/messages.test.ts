import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ERROR_CODES, type ErrorCode } from '#dist/core/errors.js';
import { MAX_ASK, PAYLOAD_LIMITS } from '#dist/core/framing/frame.js';
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
  type Get,
  LIMITS,
  parseAsk,
  parseClientKeepalive,
  parseDigests,
  parseEnd,
  parseError,
  parseGet,
  parseHello,
  parseVerdict,
} from '#dist/core/framing/messages.js';
import { deepList, HOSTILE_JSON, jsonObject } from '../../../support/hostile-json.js';

const RUN = '00112233445566778899aabbccddeeff';
const HELLO = { agent: '"wirebound/1"', codecs: '["lz4"]', run: `"${RUN}"` };
const VERDICT = { verified: 'false', code: '"SINK_FULL"', message: '"full"' };
const ERROR = { code: '"BUSY"', message: '"full house"' };
const LARGEST = 0xffff_ffff;
const counts = fc.integer({ min: 1, max: LARGEST });
const codes = fc.constantFrom(...(Object.keys(ERROR_CODES) as ErrorCode[]));

describe('Hello', () => {
  test('comes back as it was, in one frame', () => {
    const codecs = fc.array(fc.stringMatching(/^[a-z0-9][a-z0-9-]{0,31}$/), { maxLength: 64 });
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 100 }), codecs, (agent, names) => {
        const content = encodeHello({ agent, codecs: names, run: RUN });
        expect(content.length).toBeLessThan(PAYLOAD_LIMITS.hello);
        expect(parseHello(content)).toEqual({ agent, codecs: names, run: RUN });
      }),
    );
  });

  test.each(Object.keys(HELLO))('without %s it is refused', (name) => {
    expect(() => parseHello(jsonObject({ ...HELLO, [name]: undefined }))).toThrow(
      protocol(`hello: ${name} is missing`),
    );
  });

  test.each(HOSTILE_JSON)('%s is no run, no codec and no list of codecs', (_, json) => {
    expect(() => parseHello(jsonObject({ ...HELLO, run: json }))).toThrow(protocol('hello: run is '));
    if (json !== '"0x10"') {
      expect(() => parseHello(jsonObject({ ...HELLO, codecs: `[${json}]` }))).toThrow(
        protocol('hello: codec'),
      );
    }
    if (json.startsWith('[')) return;
    expect(() => parseHello(jsonObject({ ...HELLO, codecs: json }))).toThrow(protocol('hello: codecs is '));
    if (json.startsWith('"')) return;
    expect(() => parseHello(jsonObject({ ...HELLO, agent: json }))).toThrow(protocol('hello: agent is '));
  });

  test.each([
    ['an agent of 101 characters', { agent: `"${'a'.repeat(101)}"` }, 'agent is a string of 101'],
    ['65 codecs', { codecs: `[${Array(65).fill('"lz4"')}]` }, 'codecs is a list of 65'],
    ['a codec name of 33 characters', { codecs: `["${'x'.repeat(33)}"]` }, 'codec name "xxx'],
    ['an upper-case codec', { codecs: '["LZ4"]' }, 'codec name "LZ4"'],
    ['a codec with a path', { codecs: '["../lz4"]' }, 'codec name "../lz4"'],
    ['the codec __proto__', { codecs: '["__proto__"]' }, 'codec name "__proto__"'],
    ['an upper-case run', { run: `"${RUN.toUpperCase()}"` }, 'run is '],
    ['a short run', { run: '"00"' }, 'run is "00"'],
    ['a run with a line end', { run: `"${RUN.slice(1)}\\n"` }, 'run is '],
  ])('with %s it is refused', (_, fields, message) => {
    expect(() => parseHello(jsonObject({ ...HELLO, ...fields }))).toThrow(protocol(`hello: ${message}`));
  });

  test('fields that nobody knows yet are passed over, however deep', () => {
    const content = jsonObject({ ...HELLO, later: deepList(7000), __proto__: undefined });
    expect(parseHello(content)).toEqual({ agent: 'wirebound/1', codecs: ['lz4'], run: RUN });
  });
});

describe('Ask', () => {
  test('comes back as it was', () => {
    fc.assert(
      fc.property(counts, fc.array(fc.nat(), { minLength: 1, maxLength: MAX_ASK }), (count, numbers) => {
        const indexes = numbers.map((number) => number % count);
        const content = encodeAsk(indexes);
        expect(content.length).toBeLessThanOrEqual(PAYLOAD_LIMITS.ask);
        expect(parseAsk(content, count)).toEqual(indexes);
      }),
    );
  });

  test.each([0, 1, 3, 5, 4 * MAX_ASK + 4])('%i bytes are not 1 to 256 indexes', (length) => {
    expect(() => parseAsk(new Uint8Array(length), 10)).toThrow(protocol(`ask: ${length} bytes`));
  });

  test.each([
    [4, 4],
    [LARGEST, 4],
    [0, 0],
  ])('chunk %i is not one of %i', (index, count) => {
    expect(() => parseAsk(encodeAsk([0, index].slice(count === 0 ? 1 : 0)), count)).toThrow(
      protocol(`ask: chunk ${index}, the file has ${count}`),
    );
  });
});

describe('Digests', () => {
  const digest = (fill: number) => new Uint8Array(32).fill(fill);

  test('come back as they were', () => {
    const entries = fc.uniqueArray(fc.nat({ max: 999 }), { maxLength: MAX_ASK });
    fc.assert(
      fc.property(entries, fc.integer({ min: 1000, max: LARGEST }), (indexes, frontier) => {
        const digests = new Map(indexes.map((index) => [index, digest(index % 256)]));
        const content = encodeDigests(frontier, digests);
        expect(content.length).toBeLessThanOrEqual(PAYLOAD_LIMITS.digests);
        const parsed = parseDigests(content, LARGEST);
        expect(parsed.frontier).toBe(frontier);
        expect([...parsed.digests].map(([index, bytes]) => [index, Uint8Array.from(bytes)])).toEqual([
          ...digests,
        ]);
      }),
    );
  });

  test('do not share memory with the frame they came in', () => {
    const content = encodeDigests(1, new Map([[0, digest(1)]]));
    const { digests } = parseDigests(content, 1);
    content.fill(0);
    expect(digests.get(0)?.[0]).toBe(1);
  });

  test.each([0, 3, 5, 39, 41])('%i bytes are not a list of digests', (length) => {
    expect(() => parseDigests(new Uint8Array(length), 10)).toThrow(protocol(`digests: ${length} bytes`));
  });

  test('a frontier beyond the file is refused', () => {
    expect(() => parseDigests(encodeDigests(11, new Map()), 10)).toThrow(protocol('frontier 11 of 10'));
  });

  test('a digest of a chunk that the file does not have is refused', () => {
    expect(() => parseDigests(encodeDigests(10, new Map([[10, digest(1)]])), 10)).toThrow(
      protocol('digests: chunk 10, the file has 10'),
    );
  });

  test('a digest that the server cannot know yet is refused', () => {
    expect(() => parseDigests(encodeDigests(3, new Map([[3, digest(1)]])), 10)).toThrow(
      protocol('digests: chunk 3 lies beyond the frontier 3'),
    );
  });
});

describe('Get', () => {
  const reasons: readonly Get['reason'][] = ['first', 'lost', 'mismatch', 'codec', 'protocol'];

  test('comes back as it was', () => {
    fc.assert(
      fc.property(counts, fc.nat(), fc.nat(), fc.constantFrom(...reasons), (total, a, b, reason) => {
        const first = a % (total + 1);
        const get: Get = { first, count: b % (total - first + 1), reason };
        const content = encodeGet(get);
        expect(content.length).toBe(PAYLOAD_LIMITS.get);
        expect(parseGet(content, total)).toEqual(get);
      }),
    );
  });

  test('reasons keep their numbers', () => {
    expect(reasons.map((reason) => encodeGet({ first: 0, count: 0, reason })[8])).toEqual([0, 1, 2, 3, 4]);
  });

  test.each([
    [5, 0, 4],
    [4, 1, 4],
    [0, 5, 4],
    [3, 2, 4],
    [LARGEST, 1, 4],
    [1, LARGEST, 4],
    [LARGEST, LARGEST, LARGEST],
    [0, 1, 0],
  ])('chunks from %i on, %i of them, are not in a file of %i', (first, length, total) => {
    const content = encodeGet({ first, count: length, reason: 'first' });
    expect(() => parseGet(content, total)).toThrow(
      protocol(`get: ${length} chunks from ${first} on, the file has ${total}`),
    );
  });

  test('none from the end on is a request for End alone, also in an empty file', () => {
    for (const total of [0, 4, LARGEST]) {
      const get: Get = { first: total, count: 0, reason: 'lost' };
      expect(parseGet(encodeGet(get), total)).toEqual(get);
    }
  });

  test.each([0, 8, 10])('%i bytes are no Get', (length) => {
    expect(() => parseGet(new Uint8Array(length), 10)).toThrow(protocol(`get: ${length} bytes instead of 9`));
  });

  test('an unknown reason is refused', () => {
    expect(() => parseGet(Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 1, 5), 1)).toThrow(
      protocol('get: unknown reason 5'),
    );
  });
});

describe('Verdict and Error', () => {
  const texts = fc.string({ unit: 'binary', maxLength: 3000 });

  test('come back as they were, as far as they are printable and fit', () => {
    const message = fc.string({ unit: 'grapheme', maxLength: 300 });
    fc.assert(
      fc.property(codes, message, (code, text) => {
        expect(parseError(encodeError({ code, message: text }))).toEqual({ code, message: text });
        const verdict = { verified: false, code, message: text };
        expect(parseVerdict(encodeVerdict(verdict))).toEqual(verdict);
      }),
    );
    expect(parseVerdict(encodeVerdict({ verified: true }))).toEqual({ verified: true });
  });

  test('a Verdict says what limited the transfer; what is not a limit or a share is passed over', () => {
    for (const limitedBy of LIMITS) {
      const verdict = { verified: true, limitedBy, share: 0.25 };
      expect(parseVerdict(encodeVerdict(verdict))).toEqual(verdict);
    }
    for (const share of ['1.01', '-0.1', '1e400', 'null', '"1"', '[]']) {
      const content = jsonObject({ verified: 'true', limitedBy: '"__proto__"', share });
      expect(parseVerdict(content)).toEqual({ verified: true });
    }
  });

  test.each([
    ['anything', texts],
    ['control characters', fc.constant('\u0000'.repeat(3000))],
    ['quotes', fc.constant('"\\'.repeat(2000))],
    ['the widest characters', fc.constant('\uffee'.repeat(3000))],
    ['lone surrogates', fc.constant('\ud800'.repeat(3000))],
    ['pairs of surrogates cut in two', fc.constant(`x${'\u{1f600}'.repeat(2000)}`)],
  ])('a message of %s fits into its frame and is accepted', (_, messages) => {
    fc.assert(
      fc.property(messages, codes, (message, code) => {
        const content = encodeError({ code, message });
        expect(content.length).toBeLessThanOrEqual(PAYLOAD_LIMITS.error);
        expect(parseError(content).message.length).toBeLessThanOrEqual(1000);
        const verdict = encodeVerdict({ verified: false, code, message });
        expect(verdict.length).toBeLessThanOrEqual(PAYLOAD_LIMITS.verdict);
        expect(parseVerdict(verdict).code).toBe(code);
      }),
    );
  });

  test.each(['"NOT_YET_INVENTED"', '"__proto__"', '"toString"', '""'])(
    'the unknown code %s means INTERNAL',
    (code) => {
      expect(parseError(jsonObject({ ...ERROR, code })).code).toBe('INTERNAL');
      expect(parseVerdict(jsonObject({ ...VERDICT, code })).code).toBe('INTERNAL');
    },
  );

  test.each(Object.keys(ERROR))('an Error without %s is refused', (name) => {
    expect(() => parseError(jsonObject({ ...ERROR, [name]: undefined }))).toThrow(
      protocol(`error: ${name} is missing`),
    );
  });

  test('a Verdict that does not say whether is refused', () => {
    expect(() => parseVerdict(jsonObject({ ...VERDICT, verified: undefined }))).toThrow(
      protocol('verdict: verified is missing'),
    );
  });

  test.each(HOSTILE_JSON.filter(([, json]) => !json.startsWith('"')))(
    '%s is neither a code nor a message',
    (_, json) => {
      for (const name of ['code', 'message']) {
        expect(() => parseError(jsonObject({ ...ERROR, [name]: json }))).toThrow(
          protocol(`error: ${name} is `),
        );
        expect(() => parseVerdict(jsonObject({ ...VERDICT, [name]: json }))).toThrow(
          protocol(`verdict: ${name} is `),
        );
      }
      if (json === 'true') return;
      expect(() => parseVerdict(jsonObject({ ...VERDICT, verified: json }))).toThrow(
        protocol('verdict: verified'),
      );
    },
  );

  test.each([
    ['code', 41],
    ['message', 1001],
  ])('a %s of %i characters is refused', (name, length) => {
    const long = `"${'x'.repeat(length)}"`;
    expect(() => parseError(jsonObject({ ...ERROR, [name]: long }))).toThrow(
      protocol(`error: ${name} is a string of`),
    );
    expect(() => parseVerdict(jsonObject({ ...VERDICT, [name]: long }))).toThrow(
      protocol(`verdict: ${name} is`),
    );
  });
});

describe('Keepalive', () => {
  test("a client's comes back as it was", () => {
    const rate = fc.integer({ min: 0, max: LARGEST });
    const keepalives = fc.record({
      received: fc.maxSafeNat(),
      elapsedUs: fc.maxSafeNat(),
      starvedUs: fc.maxSafeNat(),
      busyUs: fc.maxSafeNat(),
      digestRate: rate,
      decodeRate: rate,
    });
    fc.assert(
      fc.property(keepalives, (keepalive) => {
        const content = encodeClientKeepalive(keepalive);
        expect(content.length).toBe(PAYLOAD_LIMITS.keepalive);
        expect(parseClientKeepalive(content)).toEqual(keepalive);
      }),
    );
  });

  test('a rate beyond 32 bits is sent as the largest there is, parts of microseconds not at all', () => {
    const odd = {
      received: 0,
      elapsedUs: 1.4,
      starvedUs: 0.6,
      busyUs: 0.2,
      digestRate: 1.5,
      decodeRate: 2 ** 40,
    };
    expect(parseClientKeepalive(encodeClientKeepalive(odd))).toEqual({
      received: 0,
      elapsedUs: 1,
      starvedUs: 1,
      busyUs: 0,
      digestRate: 2,
      decodeRate: LARGEST,
    });
  });

  test("a server's is its frontier", () => {
    expect(Buffer.from(encodeFrontier(LARGEST - 1)).toString('hex')).toBe('fffffffe');
    expect(Buffer.from(encodeFrontier(1)).toString('hex')).toBe('00000001');
  });

  test.each([0, 4, 12, 39, 41])('%i bytes are no keepalive of a client', (length) => {
    expect(() => parseClientKeepalive(new Uint8Array(length))).toThrow(
      protocol(`keepalive: ${length} bytes instead of 40`),
    );
  });

  test.each(['0020000000000000', '0020000000000001', 'ffffffffffffffff'])(
    '0x%s is no possible count',
    (hex) => {
      for (const at of [0, 8, 16, 24]) {
        const content = Buffer.alloc(40);
        content.write(hex, at, 'hex');
        expect(() => parseClientKeepalive(content)).toThrow(
          protocol(`keepalive: ${BigInt(`0x${hex}`)} is not a possible count`),
        );
      }
    },
  );
});

describe('End', () => {
  const waits = fc.record({
    sourceMs: fc.integer({ min: 0, max: LARGEST }),
    digestMs: fc.integer({ min: 0, max: LARGEST }),
    codecMs: fc.integer({ min: 0, max: LARGEST }),
    rateMs: fc.integer({ min: 0, max: LARGEST }),
    networkMs: fc.integer({ min: 0, max: LARGEST }),
  });

  test('comes back as it was', () => {
    fc.assert(
      fc.property(waits, (made) => {
        const content = encodeEnd(made);
        expect(content.length).toBe(PAYLOAD_LIMITS.end);
        expect(parseEnd(content)).toEqual(made);
      }),
    );
  });

  test.each([0, 19, 21])('%i bytes are no End', (length) => {
    expect(() => parseEnd(new Uint8Array(length))).toThrow(protocol(`end: ${length} bytes instead of 20`));
  });
});

function protocol(message: string): unknown {
  return expect.objectContaining({ code: 'PROTOCOL', message: expect.stringContaining(message) });
}
