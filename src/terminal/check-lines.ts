import { escapeForTerminal } from '../core/escape.js';
import { formatRate } from '../core/units.js';
import type { CheckEvent } from '../testing/check-plugin.js';

type EventOf<Name extends CheckEvent['event']> = Extract<CheckEvent, { event: Name }>;

const MARKS = { kept: 'ok     ', broken: 'BROKEN ', 'not run': 'not run' } as const;

/** What one event of a plugin check says to a person. */
export function describeCheckEvent(event: CheckEvent): readonly string[] {
  switch (event.event) {
    case 'plugin':
      return [`plugin   ${escapeForTerminal([event.name, event.version ?? ''].join(' ').trim())}`];
    case 'case':
      return caseLines(event);
    case 'figures':
      return [figuresLine(event)];
    case 'warning':
      return [`warning: ${escapeForTerminal(event.message)}`];
    case 'check':
      return [`${event.kept} promises kept, ${event.broken} broken, ${event.notRun} not run`];
  }
}

function caseLines({ kind, name, title, outcome, reason }: EventOf<'case'>): readonly string[] {
  const line = `${MARKS[outcome]}  ${kind} ${escapeForTerminal(name)}: ${title}`;
  if (reason === undefined) return [line];
  return [
    line,
    ...reason
      .split('\n')
      .slice(0, 12)
      .map((text) => `           ${escapeForTerminal(text)}`),
  ];
}

function figuresLine({
  name,
  content,
  encodeRate,
  decodeRate,
  encodeShare,
  decodeShare,
  ratio,
}: EventOf<'figures'>): string {
  const subject = `figures  codec ${escapeForTerminal(name)}, ${content}:`;
  if (encodeRate === undefined || decodeRate === undefined) return `${subject} refused, so it travels raw`;
  const percent = (share = 0) => `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} % of none`;
  return `${subject} encodes ${formatRate(encodeRate)} (${percent(encodeShare)}), decodes ${formatRate(decodeRate)} (${percent(decodeShare)}), ${(ratio ?? 1).toFixed(3)} times the size`;
}
