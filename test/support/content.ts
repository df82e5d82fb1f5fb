import { createCipheriv } from 'node:crypto';

/**
 * `random` does not compress; `log` is access-log text that LZ4 makes about 12 times smaller; `half` is a MiB of
 * one and a MiB of the other in turn.
 */
export type ContentKind = 'random' | 'log' | 'half';

const PIECE = 1 << 20;

/** Reproducible content: the same kind, size and seed always give the same bytes. */
export function content(kind: ContentKind, size: number, seed = 1): Buffer {
  return Buffer.concat([...contentPieces(kind, size, seed)]);
}

/** The bytes of {@link content} in pieces of up to 1 MiB; each piece is a fresh buffer. */
export function* contentPieces(kind: ContentKind, size: number, seed = 1): Generator<Buffer> {
  const next = PIECES[kind](seed);
  for (let left = size; left > 0; left -= PIECE) yield next().subarray(0, left);
}

const PIECES: Readonly<Record<ContentKind, (seed: number) => () => Buffer>> = {
  random: randomPieces,
  log: logPieces,
  half: (seed) => {
    const sides = [randomPieces(seed), logPieces(seed)] as const;
    let turn = 0;
    return () => (sides[turn++ % 2] ?? sides[0])();
  },
};

/** AES in counter mode: as good as random, reproducible, and faster than any disk. */
function randomPieces(seed: number): () => Buffer {
  const key = Buffer.alloc(16);
  key.writeDoubleLE(seed);
  const cipher = createCipheriv('aes-128-ctr', key, Buffer.alloc(16));
  const zeros = Buffer.alloc(PIECE);
  return () => cipher.update(zeros);
}

function logPieces(seed: number): () => Buffer {
  const line = logLines(seed);
  let rest = '';
  return () => {
    const lines = [rest];
    for (let length = rest.length; length < PIECE; ) {
      const text = line();
      lines.push(text);
      length += text.length;
    }
    const text = lines.join('');
    rest = text.slice(PIECE);
    return Buffer.from(text.slice(0, PIECE), 'latin1');
  };
}

const REQUESTS = [
  ['GET', '/assets/images/gallery/2026/large/harbour-at-dawn.webp'],
  ['GET', '/api/v2/projects/render-farm/jobs/status?include=workers,queue'],
  ['POST', '/api/v2/projects/render-farm/jobs/heartbeat'],
] as const;
const AGENT = 'Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0';

function logLines(seed: number): () => string {
  const random = xorshift(seed);
  let timeMs = Date.UTC(2026, 0, 1);
  return () => {
    timeMs += random() % 90;
    const [method, path] = REQUESTS[random() % REQUESTS.length] ?? REQUESTS[0];
    const time = new Date(timeMs).toISOString();
    const took = random() % 1000;
    const client = 10 + (random() % 40);
    return `${time} INFO frontend-worker 10.20.0.${client} "${method} ${path} HTTP/1.1" 200 "${AGENT}" handled in ${took} us\n`;
  };
}

/** Marsaglia's 32-bit xorshift generator (Journal of Statistical Software 8/14, 2003). */
function xorshift(seed: number): () => number {
  let state = (seed ^ 0x9e3779b9) >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state;
  };
}
