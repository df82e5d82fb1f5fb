import { afterEach, describe, expect, test } from '@jest/globals';
import type { GetEvent, GetResult } from '#dist/core/client/get-event.js';
import { openGetReport } from '#dist/terminal/get-report.js';
import type { Report } from '#dist/terminal/report.js';
import { recordingTerminal, screenOf } from './recording-terminal.js';

const MIB = 1024 * 1024;
const GOOD = 'ab'.repeat(32);
const BAD = 'cd'.repeat(32);
const PERSON = { json: false, quiet: false };

const MANIFEST: GetEvent = {
  event: 'manifest',
  address: '10.0.0.1:6767',
  name: 'build.iso',
  size: 100 * MIB,
  chunks: 400,
  chunkSize: MIB / 4,
  codecs: ['lz4'],
  path: '/data/build.iso',
};

const PASS: GetResult = {
  result: 'PASS',
  sha256: GOOD,
  name: 'build.iso',
  path: '/data/build.iso',
  bytes: 100 * MIB,
  bytesOnWire: 101 * MIB,
  seconds: 2,
  alreadyComplete: false,
};

const opened: Report<GetEvent>[] = [];

function open(terminal: ReturnType<typeof recordingTerminal>, options = PERSON): Report<GetEvent> {
  const report = openGetReport(terminal, options);
  opened.push(report);
  return report;
}

afterEach(() => {
  for (const report of opened.splice(0)) report.close();
});

function linesFor(...events: GetEvent[]): string[] {
  const terminal = recordingTerminal();
  const report = open(terminal);
  for (const event of events) report.onEvent(event);
  return terminal.takeLines('stderr');
}

function receiving(bytes: number, phase: 'checking' | 'receiving' = 'receiving'): GetEvent {
  return { event: 'progress', phase, bytes, size: 100 * MIB };
}

describe('a client for people', () => {
  test('says what it gets, from where, and where to', () => {
    expect(linesFor(MANIFEST)).toEqual([
      'getting  build.iso: 100 MiB in 400 chunks of 256 KiB',
      'from     10.0.0.1:6767',
      'to       /data/build.iso',
    ]);
  });

  test('ends with PASS, the digest, size, time, rate, and where the file is', () => {
    expect(linesFor({ event: 'result', ...PASS, limitedBy: 'digest', share: 0.92 })).toEqual([
      'PASS     build.iso',
      `SHA-256  ${GOOD}`,
      'size     100 MiB in 2 s (50 MiB/s)',
      'limit    the digest, 92.0 % of the time',
      'file     /data/build.iso',
    ]);
  });

  test('says that an identical file was there already', () => {
    expect(linesFor({ event: 'result', ...PASS, alreadyComplete: true })).toContain(
      'size     100 MiB, already complete',
    );
  });

  test('passes an empty file without NaN', () => {
    const text = linesFor({ event: 'result', ...PASS, bytes: 0, seconds: 0 }).join('\n');
    expect(text).toContain('size     0 B in 0 s (0 B/s)');
  });

  test('ends with FAIL, why, both digests, and what is left to go on from', () => {
    const failed: GetResult = {
      ...PASS,
      result: 'FAIL',
      code: 'DIGEST_MISMATCH',
      message: 'chunk 17 of 400 does not match',
      sha256: BAD,
      expected: GOOD,
      partial: '/data/build.iso.wirebound',
    };
    expect(linesFor({ event: 'result', ...failed })).toEqual([
      'FAIL     build.iso: chunk 17 of 400 does not match (DIGEST_MISMATCH)',
      `expected ${GOOD}`,
      `found    ${BAD}`,
      'size     100 MiB, 101 MiB received in 2 s',
      'partial  /data/build.iso.wirebound; the same command goes on from there',
    ]);
  });

  test('never lets a control character from a server through', () => {
    const evil = '\x1b]0;pwn\x07\r\n\x9b31m\x08';
    const text = linesFor(
      { ...(MANIFEST as Extract<GetEvent, { event: 'manifest' }>), name: evil, path: evil, address: evil },
      { event: 'waiting', address: evil, reason: evil },
      { event: 'reconnecting', chunk: 1, chunks: 2, reason: evil },
      { event: 'warning', message: evil },
      { event: 'result', ...PASS, name: evil, path: evil, sha256: evil },
      { event: 'result', ...PASS, result: 'FAIL', name: evil, message: evil, expected: evil, partial: evil },
    ).join('');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may be there
    expect(text).not.toMatch(/[\x00-\x1f\x7f-\x9f]/);
    expect(text).toContain('pwn');
  });

  test('says why it waits, but not at every attempt', () => {
    const terminal = recordingTerminal();
    const report = open(terminal);
    for (let second = 0; second <= 10; second++) {
      terminal.clock.ms = second * 1000;
      report.onEvent({ event: 'waiting', address: '10.0.0.1:6767', reason: 'nothing listens there yet' });
    }
    const line = 'waiting for 10.0.0.1:6767: nothing listens there yet';
    expect(terminal.takeLines('stderr')).toEqual([line, line, line]);
  });

  test('says only warnings and FAIL when it is to be quiet', () => {
    const terminal = recordingTerminal({ isTTY: true });
    const report = open(terminal, { json: false, quiet: true });
    report.onEvent(MANIFEST);
    report.onEvent(receiving(MIB));
    report.tick();
    report.onEvent({ event: 'result', ...PASS });
    expect(terminal.text('stderr')).toBe('');
    report.onEvent({ event: 'warning', message: 'slow disk' });
    report.onEvent({ event: 'result', ...PASS, result: 'FAIL', code: 'SINK_FULL', message: 'no room' });
    expect(terminal.takeLines('stderr').slice(0, 2)).toEqual([
      'warning: slow disk',
      'FAIL     build.iso: no room (SINK_FULL)',
    ]);
  });
});

describe('a client whose output is no terminal', () => {
  test('prints a line every five seconds, without an escape sequence', () => {
    const terminal = recordingTerminal();
    const report = open(terminal);
    for (let step = 0; step <= 110; step++) {
      terminal.clock.ms = step * 100;
      report.onEvent(receiving((step * MIB) / 2));
      report.tick();
    }
    report.onEvent({ event: 'result', ...PASS });
    const lines = terminal.takeLines('stderr');
    expect(lines.slice(0, 2)).toEqual([
      'receiving  25 MiB of 100 MiB  25.0 %  5 MiB/s  ETA 15 s',
      'receiving  50 MiB of 100 MiB  50.0 %  5 MiB/s  ETA 10 s',
    ]);
    expect(lines[2]).toBe('PASS     build.iso');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may be there
    expect(lines.join('')).not.toMatch(/[\x1b\r]/);
  });

  test.each([{ NO_COLOR: '1' }, { CI: '1' }, { TERM: 'dumb' }])(
    'nor does a terminal see one under %j',
    (env) => {
      const terminal = recordingTerminal({ isTTY: true, env });
      const report = open(terminal);
      report.onEvent(receiving(MIB));
      report.onEvent({ event: 'result', ...PASS });
      expect(terminal.text('stderr')).not.toContain('\x1b');
      expect(terminal.text('stderr')).toContain('PASS');
    },
  );
});

describe('a client on a terminal', () => {
  test.each([
    [80, 'receiving [####################--------------------]  50.0 %  25 MiB/s  ETA 2 s'],
    [50, 'receiving [#####-----]  50.0 %  25 MiB/s  ETA 2 s'],
    [20, 'receiving  50.0 %  '],
  ])('draws one bar in one line of a terminal with %d columns', (columns, line) => {
    const terminal = recordingTerminal({ isTTY: true, columns });
    const report = open(terminal);
    report.onEvent(receiving(0));
    terminal.clock.ms = 2000;
    report.onEvent(receiving(50 * MIB));
    // The bar itself draws by the clock of the process; closing it draws what is due.
    report.onEvent({ event: 'warning', message: 'w' });
    const drawn = terminal
      .text('stderr')
      .split('\x1b[1G')
      .map((part) => part.split('\x1b')[0]);
    expect(drawn).toContain(line);
    expect(screenOf(terminal.text('stderr'))).toEqual(['warning: w']);
    expect(line.length).toBeLessThan(columns);
  });

  test('leaves the result alone on the screen, and the cursor as it was', () => {
    const terminal = recordingTerminal({ isTTY: true, columns: 80 });
    const report = open(terminal);
    report.onEvent(MANIFEST);
    report.onEvent(receiving(0, 'checking'));
    terminal.clock.ms = 1000;
    report.onEvent(receiving(10 * MIB));
    report.onEvent({ event: 'result', ...PASS });
    terminal.clock.ms = 9000;
    report.tick();
    expect(screenOf(terminal.text('stderr')).slice(3)).toEqual(linesFor({ event: 'result', ...PASS }));
    expect(terminal.text('stderr')).not.toContain('\x1b[?');
  });
});

describe('a client for programs', () => {
  test('prints events as lines of JSON on stdout, progress at most once a second', () => {
    const terminal = recordingTerminal({ isTTY: true });
    const report = open(terminal, { json: true, quiet: true });
    report.onEvent(MANIFEST);
    for (let step = 0; step < 20; step++) {
      terminal.clock.ms = step * 100;
      report.onEvent(receiving(step * MIB));
    }
    report.onEvent({ event: 'result', ...PASS });
    const events = terminal.takeLines('stdout').map((line) => JSON.parse(line));
    expect(events).toEqual([MANIFEST, receiving(0), receiving(10 * MIB), { event: 'result', ...PASS }]);
    expect(terminal.text('stderr')).toBe('');
  });
});
