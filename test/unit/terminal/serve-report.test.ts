import { describe, expect, test } from '@jest/globals';
import type { ServeEvent, ServeSummary } from '#dist/core/server/serve-event.js';
import { openServeReport } from '#dist/terminal/serve-report.js';
import { type RecordingTerminal, recordingTerminal, screenOf } from './recording-terminal.js';

const MIB = 1024 * 1024;
const SHA256 = 'ab'.repeat(32);
const PERSON = { json: false, quiet: false };

const LISTENING: ServeEvent = {
  event: 'listening',
  name: 'build.iso',
  size: 100 * MIB,
  chunks: 400,
  chunkSize: MIB / 4,
  source: 'mmap through koffi',
  codec: 'lz4',
  port: 6767,
  addresses: [
    { interface: 'eth0', address: '10.99.0.1', family: 4, internal: false },
    { interface: 'eth0', address: 'fe80::1%eth0', family: 6, internal: false },
  ],
};

const SUMMARY: ServeSummary = {
  verified: 3,
  failed: 1,
  connections: 5,
  name: 'build.iso',
  size: 100 * MIB,
  chunkSize: MIB / 4,
  codec: 'lz4',
  bytesSent: 350 * MIB,
  payloadBytes: 174 * MIB,
  bytesOnWire: 175 * MIB,
  chunksEncoded: 390,
  chunksRaw: 10,
  bytesFromStorage: 100 * MIB,
  bytesFromSource: 0,
  seconds: 20,
  activeSeconds: 10,
  peakMemory: 64 * MIB,
};

function progress(client: number, bytes: number): ServeEvent {
  const address = `10.0.0.${client}:5000`;
  return { event: 'client.progress', client, address, bytes, size: 100 * MIB, codec: 'none' };
}

function finished(
  client: number,
  outcome: Partial<Extract<ServeEvent, { event: 'client.finished' }>>,
): ServeEvent {
  const address = `10.0.0.${client}:5000`;
  return { event: 'client.finished', client, address, verified: false, bytes: 0, seconds: 2, ...outcome };
}

/** Feeds events to a report for people and returns the lines they made. */
function linesFor(...events: ServeEvent[]): string[] {
  const terminal = recordingTerminal();
  const report = openServeReport(terminal, PERSON);
  for (const event of events) report.onEvent(event);
  return terminal.takeLines('stderr');
}

/** Feeds one progress event for every 100 ms of `seconds`. */
function run(terminal: RecordingTerminal, seconds: number, onStep: (fraction: number) => void): void {
  const steps = seconds * 10;
  for (let step = 1; step <= steps; step++) {
    terminal.clock.ms += 100;
    onStep(step / steps);
  }
}

describe('a server for people', () => {
  test('says at once what is served, how, and how to get it from every address', () => {
    expect(linesFor(LISTENING)).toEqual([
      'serving  build.iso: 100 MiB in 400 chunks of 256 KiB',
      'source   mmap through koffi',
      'codec    lz4',
      'Anyone who reaches port 6767 can fetch this file. On the other machines, run one of:',
      '  wirebound get 10.99.0.1     (eth0)',
      '  wirebound get fe80::1%eth0  (eth0)',
    ]);
  });

  test('shows a port that is not the default, and quotes brackets, which some shells expand', () => {
    const lines = linesFor({ ...LISTENING, port: 7000 });
    expect(lines[4]).toBe('  wirebound get 10.99.0.1:7000         (eth0)');
    expect(lines[5]).toBe('  wirebound get "[fe80::1%eth0]:7000"  (eth0)');
  });

  test('says when an address only works on this machine', () => {
    const addresses = [{ interface: 'lo', address: '127.0.0.1', family: 4, internal: true } as const];
    expect(linesFor({ ...LISTENING, addresses }).at(-1)).toBe(
      '  wirebound get 127.0.0.1  (lo, this machine only)',
    );
  });

  test('says the digest, and that it came from the cache', () => {
    expect(linesFor({ event: 'digest', sha256: SHA256, cached: false })).toEqual([`SHA-256  ${SHA256}`]);
    expect(linesFor({ event: 'digest', sha256: SHA256, cached: true })).toEqual([
      `SHA-256  ${SHA256}  (from cache)`,
    ]);
  });

  test('says of every client whether it verified, and why not', () => {
    expect(
      linesFor(
        { event: 'client.connected', client: 1, address: '10.0.0.1:5000', agent: 'wirebound/0.1.0' },
        finished(1, { verified: true, bytes: 100 * MIB }),
        finished(2, { bytes: 10 * MIB, code: 'SINK_FULL', message: 'no room' }),
        finished(3, {}),
      ),
    ).toEqual([
      'client 1  10.0.0.1:5000  connected  (wirebound/0.1.0)',
      'client 1  10.0.0.1:5000  verified  100 MiB in 2 s (50 MiB/s)',
      'client 2  10.0.0.2:5000  NOT verified after 10 MiB: no room (SINK_FULL)',
      'client 3  10.0.0.3:5000  NOT verified after 0 B: it went away without a verdict',
    ]);
  });

  test.each([
    ['none', {}, ''],
    ['lz4', {}, ', lz4'],
    ['lz4', { linkRate: 100 * MIB }, ', lz4 for a link of 100 MiB/s'],
    ['lz4', { crowded: true }, ', lz4 as processors are short'],
    ['lz4', { crowded: true, linkRate: 100 * MIB }, ', lz4 as processors are short'],
  ])('says what a client was sent, and why: %s %j', (codec, why, words) => {
    expect(linesFor(finished(1, { verified: true, bytes: 100 * MIB, codec, ...why }))).toEqual([
      `client 1  10.0.0.1:5000  verified  100 MiB in 2 s (50 MiB/s${words})`,
    ]);
  });

  test('says what a drain waits for', () => {
    expect(linesFor({ event: 'draining', transfers: 0 })).toEqual(['stopping: no transfer is active']);
    expect(linesFor({ event: 'draining', transfers: 2, etaSeconds: 61.2 })).toEqual([
      'stopping: no new clients, waiting for 2 transfers, the slowest in about 1 min 02 s; Ctrl+C again stops now',
    ]);
  });

  test('works out the slowest client itself when the server does not say', () => {
    const terminal = recordingTerminal();
    const report = openServeReport(terminal, PERSON);
    report.onEvent(progress(1, 0));
    report.onEvent(progress(2, 0));
    terminal.clock.ms = 1000;
    report.onEvent(progress(1, 50 * MIB));
    report.onEvent(progress(2, 10 * MIB));
    report.onEvent({ event: 'draining', transfers: 2 });
    expect(terminal.takeLines('stderr').at(-1)).toContain('the slowest in about 9 s');
  });

  test('ends with the statistics', () => {
    expect(linesFor({ event: 'summary', ...SUMMARY })).toEqual([
      'served   build.iso: 100 MiB in chunks of 256 KiB, 20 s in all',
      'clients  3 verified, 1 failed (5 connections)',
      'sent     350 MiB of file content in 10 s of transfers (35 MiB/s)',
      'wire     175 MiB (codec lz4: 2.01 times smaller, 176 MiB saved; 390 chunks encoded, 10 raw)',
      'storage  100 MiB read (100 % of the file) for 350 MiB sent',
      'memory   64 MiB at most, mapped pages of the file included',
    ]);
  });

  test('says that everything came from memory, and no ratio where nothing was to be encoded', () => {
    const lines = linesFor({ event: 'summary', ...SUMMARY, codec: 'none', bytesFromStorage: 0 });
    expect(lines.slice(3, 5)).toEqual([
      'wire     175 MiB (codec none)',
      'storage  0 B read: all 350 MiB came from memory',
    ]);
    const raw = linesFor({ event: 'summary', ...SUMMARY, chunksEncoded: 0, chunksRaw: 400 });
    expect(raw[3]).toBe('wire     175 MiB (codec lz4: no chunk encoded)');
  });

  test('has statistics without NaN for a server that nobody used, and for an empty file', () => {
    const unused = {
      ...SUMMARY,
      size: 0,
      bytesSent: 0,
      bytesOnWire: 0,
      bytesFromStorage: 0,
      activeSeconds: 0,
    };
    const text = linesFor({ event: 'summary', ...unused }).join('\n');
    expect(text).not.toMatch(/NaN|Infinity|undefined/);
    expect(text).toContain('sent     0 B of file content in 0 s of transfers (0 B/s)');
  });

  test('never lets a control character from a peer or a file name through', () => {
    const evil = '\x1b[1A\rharmless\x07\x9b31m\x7f';
    const text = linesFor(
      {
        ...(LISTENING as Extract<ServeEvent, { event: 'listening' }>),
        name: evil,
        source: evil,
        codec: evil,
      },
      { event: 'client.connected', client: 1, address: evil, agent: evil },
      finished(1, { address: evil, code: evil, message: evil }),
      { event: 'warning', message: evil },
      { event: 'summary', ...SUMMARY, name: evil, codec: evil },
    ).join('');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may be there
    expect(text).not.toMatch(/[\x00-\x1f\x7f-\x9f]/);
    expect(text).toContain('harmless');
  });

  test('says only warnings when it is to be quiet', () => {
    const terminal = recordingTerminal({ isTTY: true });
    const report = openServeReport(terminal, { json: false, quiet: true });
    report.onEvent(LISTENING);
    report.onEvent(progress(1, 5));
    report.onEvent({ event: 'warning', message: 'the file changed' });
    report.onEvent({ event: 'summary', ...SUMMARY });
    report.tick();
    expect(terminal.text('stderr')).toBe('warning: the file changed\n');
  });
});

describe('a server whose output is no terminal', () => {
  test('prints how far the hashing is every five seconds, and nothing of one that is done sooner', () => {
    const terminal = recordingTerminal();
    const report = openServeReport(terminal, PERSON);
    run(terminal, 12, (fraction) => {
      report.onEvent({ event: 'hashing', bytes: fraction * 100 * MIB, size: 200 * MIB });
      report.tick();
    });
    const lines = terminal.takeLines('stderr');
    expect(lines).toHaveLength(2);
    expect(lines[0]).toBe('hashing: 21.2 %  8.3 MiB/s  ETA 19 s');
  });

  test('prints one line for all clients every five seconds, without an escape sequence', () => {
    const terminal = recordingTerminal();
    const report = openServeReport(terminal, PERSON);
    run(terminal, 11, (fraction) => {
      for (let client = 1; client <= 50; client++)
        report.onEvent(progress(client, (fraction * 50 * MIB) / client));
    });
    const text = terminal.text('stderr');
    const lines = terminal.takeLines('stderr');
    expect(lines).toHaveLength(2);
    expect(lines[1]).toMatch(/^50 clients active, the slowest at 0\.9 %, 20\.\d MiB\/s, ETA 18 min \d\d s$/);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may be there
    expect(text).not.toMatch(/[\x1b\r]/);
  });

  test('keeps saying that a client stands still', () => {
    const terminal = recordingTerminal();
    const report = openServeReport(terminal, PERSON);
    report.onEvent(progress(1, 10 * MIB));
    run(terminal, 11, () => report.tick());
    expect(terminal.takeLines('stderr')).toEqual([
      '1 client active at 10.0 %, 0 B/s',
      '1 client active at 10.0 %, 0 B/s',
    ]);
  });

  test('says nothing while nothing happens', () => {
    const terminal = recordingTerminal();
    const report = openServeReport(terminal, PERSON);
    report.onEvent(progress(1, 10));
    report.onEvent(finished(1, { verified: true }));
    terminal.takeLines('stderr');
    run(terminal, 20, () => report.tick());
    expect(terminal.text('stderr')).toBe('');
  });

  test('shows at once, and then every five seconds, how much has been read into memory', () => {
    const terminal = recordingTerminal();
    const report = openServeReport(terminal, PERSON);
    report.onEvent({ event: 'reading', bytes: 0 });
    terminal.clock.ms = 5000;
    report.onEvent({ event: 'reading', bytes: 50 * MIB });
    expect(terminal.takeLines('stderr')).toEqual([
      'reading into memory: 0 B',
      'reading into memory: 50 MiB  10 MiB/s',
    ]);
  });
});

describe('a server on a terminal', () => {
  test('shows a line for each active client below what happened, and removes it when the client is done', () => {
    const terminal = recordingTerminal({ isTTY: true, columns: 80 });
    const report = openServeReport(terminal, PERSON);
    report.onEvent({ event: 'hashing', bytes: 0, size: 100 * MIB });
    run(terminal, 2, (fraction) => {
      report.onEvent(progress(1, fraction * 100 * MIB));
      report.onEvent(progress(2, fraction * 50 * MIB));
    });
    report.onEvent({ event: 'digest', sha256: SHA256, cached: false });
    expect(screenOf(terminal.text('stderr'))).toEqual([
      `SHA-256  ${SHA256}`,
      '  client 1  10.0.0.1:5000  all 100 MiB sent, waiting for its verdict',
      '  client 2  10.0.0.2:5000  50.0 %  25 MiB/s  ETA 2 s',
    ]);
    report.onEvent(finished(1, { verified: true, bytes: 100 * MIB }));
    report.onEvent(finished(2, { code: 'CONNECTION_LOST', message: 'it reset the connection' }));
    expect(screenOf(terminal.text('stderr'))).toEqual([
      `SHA-256  ${SHA256}`,
      'client 1  10.0.0.1:5000  verified  100 MiB in 2 s (50 MiB/s)',
      'client 2  10.0.0.2:5000  NOT verified after 0 B: it reset the connection (CONNECTION_LOST)',
    ]);
  });

  test('stays small however many clients there are, and within a narrow terminal', () => {
    const terminal = recordingTerminal({ isTTY: true, columns: 20 });
    const report = openServeReport(terminal, PERSON);
    run(terminal, 1, (fraction) => {
      for (let client = 1; client <= 100; client++) report.onEvent(progress(client, fraction * MIB));
    });
    terminal.clock.ms += 500;
    report.tick();
    const screen = screenOf(terminal.text('stderr'));
    expect(screen).toHaveLength(13);
    expect(screen.at(-1)).toBe('  and 88 more');
    expect(Math.max(...screen.map((line) => line.length))).toBeLessThan(20);
  });

  test('takes a terminal that says it has no columns for one of 80', () => {
    const terminal = recordingTerminal({ isTTY: true, columns: 0 });
    openServeReport(terminal, PERSON).onEvent(progress(1, MIB));
    expect(screenOf(terminal.text('stderr'))).toEqual(['  client 1  10.0.0.1:5000  1.0 %']);
  });

  test('leaves nothing behind when it is closed', () => {
    const terminal = recordingTerminal({ isTTY: true });
    const report = openServeReport(terminal, PERSON);
    report.onEvent(progress(1, MIB));
    expect(screenOf(terminal.text('stderr'))).toHaveLength(1);
    report.close();
    report.close();
    expect(screenOf(terminal.text('stderr'))).toEqual([]);
  });

  test.each([{ NO_COLOR: '1' }, { CI: 'true' }, { TERM: 'dumb' }])('moves no cursor under %j', (env) => {
    const terminal = recordingTerminal({ isTTY: true, env });
    const report = openServeReport(terminal, PERSON);
    run(terminal, 1, (fraction) => report.onEvent(progress(1, fraction * MIB)));
    expect(terminal.text('stderr')).toBe('');
    run(terminal, 10, () => report.tick());
    expect(terminal.text('stderr')).not.toContain('\x1b');
    expect(terminal.takeLines('stderr')).toHaveLength(2);
  });
});

describe('a server for programs', () => {
  test('prints every event as one line of JSON on stdout, and nothing on stderr', () => {
    const terminal = recordingTerminal({ isTTY: true });
    const report = openServeReport(terminal, { json: true, quiet: false });
    const events: ServeEvent[] = [
      LISTENING,
      { event: 'digest', sha256: SHA256, cached: true },
      finished(1, { verified: true }),
      { event: 'summary', ...SUMMARY },
    ];
    for (const event of events) report.onEvent(event);
    report.tick();
    report.close();
    expect(terminal.text('stderr')).toBe('');
    expect(terminal.takeLines('stdout').map((line) => JSON.parse(line))).toEqual(events);
  });

  test('prints the progress of each client at most once a second', () => {
    const terminal = recordingTerminal();
    const report = openServeReport(terminal, { json: true, quiet: false });
    run(terminal, 3, (fraction) => {
      report.onEvent(progress(1, fraction * MIB));
      report.onEvent(progress(2, fraction * MIB));
    });
    const clients = terminal.takeLines('stdout').map((line) => JSON.parse(line).client);
    expect(clients).toEqual([1, 2, 1, 2, 1, 2]);
  });
});
