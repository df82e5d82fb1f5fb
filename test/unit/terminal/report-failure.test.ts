import { describe, expect, test } from '@jest/globals';
import { WireBoundError } from '#dist/core/errors.js';
import { reportFailure } from '#dist/terminal/report-failure.js';
import { recordingTerminal } from './recording-terminal.js';

const PERSON = { json: false, usage: ['usage: wirebound get HOST'] };
const PROGRAM = { ...PERSON, json: true };

describe('reportFailure', () => {
  test('tells an expected failure in one line, then what to do, and returns its exit code', () => {
    const terminal = recordingTerminal();
    const error = new WireBoundError('CONNECTION_REFUSED', 'nothing listens at 10.0.0.1:6767', {
      suggestions: ['is wirebound serve running there?'],
    });
    expect(reportFailure(error, terminal, PERSON)).toBe(4);
    expect(terminal.text('stderr')).toBe(
      'wirebound: nothing listens at 10.0.0.1:6767\n  is wirebound serve running there?\n',
    );
    expect(terminal.text('stdout')).toBe('');
  });

  test('tells a program the same as one line of JSON on stdout', () => {
    const terminal = recordingTerminal();
    expect(reportFailure(new WireBoundError('SINK_FULL', 'no room'), terminal, PROGRAM)).toBe(8);
    expect(JSON.parse(terminal.text('stdout'))).toEqual({
      event: 'error',
      code: 'SINK_FULL',
      message: 'no room',
      suggestions: [],
    });
    expect(terminal.text('stderr')).toBe('');
  });

  test('adds the usage line to a usage error', () => {
    const terminal = recordingTerminal();
    expect(reportFailure(new WireBoundError('USAGE', '--port "x" is not valid'), terminal, PERSON)).toBe(2);
    expect(terminal.takeLines('stderr')).toEqual([
      'wirebound: --port "x" is not valid',
      '  usage: wirebound get HOST',
    ]);
  });

  test('makes one line of what the parser says in several', () => {
    const terminal = recordingTerminal();
    const message = 'Nonexistent flags: --a,\n  --b\nSee more help with --help';
    expect(reportFailure(Object.assign(new Error(message), { oclif: { exit: 2 } }), terminal, PERSON)).toBe(
      2,
    );
    expect(terminal.takeLines('stderr')[0]).toBe('wirebound: nonexistent flags: --a, --b');
  });

  test('says nothing about an order to exit', () => {
    const terminal = recordingTerminal();
    const error = Object.assign(new Error('EEXIT: 0'), { code: 'EEXIT', oclif: { exit: 0 } });
    expect(reportFailure(error, terminal, PERSON)).toBe(0);
    expect(terminal.text('stderr')).toBe('');
  });

  test.each([new TypeError('x is not a function'), 'a string', undefined, { message: 1 }])(
    'tells an unexpected failure (%p) shortly, and shows a stack only with DEBUG',
    (thrown) => {
      const quiet = recordingTerminal();
      expect(reportFailure(thrown, quiet, PERSON)).toBe(1);
      expect(quiet.text('stderr')).toMatch(/^wirebound: internal error: .+\n {2}this is a bug/);
      expect(quiet.text('stderr')).not.toContain('    at ');
      const loud = recordingTerminal({ env: { DEBUG: '1' } });
      reportFailure(thrown, loud, PERSON);
      expect(loud.text('stderr').includes('    at ')).toBe(thrown instanceof Error);
    },
  );

  test('escapes control characters in the message and the suggestions', () => {
    const terminal = recordingTerminal();
    const error = new WireBoundError('PROTOCOL', 'it said \x1b[2J', { suggestions: ['try \x1b[2J'] });
    reportFailure(error, terminal, PERSON);
    expect(terminal.text('stderr')).not.toContain('\x1b');
  });
});
