import * as Flags from '@oclif/core/flags';
import { WireBoundError } from '../core/errors.js';
import { parsePort, parseSeconds } from '../core/units.js';
import { given } from './given.js';
import { parseTarget, type Target } from './target.js';

const DEFAULT_PORT = 6767;

/** The flags of every command that talks to a server. */
export const CLIENT_FLAGS = {
  port: Flags.string({ char: 'p', helpValue: 'PORT', summary: 'TCP port; 6767 unless given.' }),
  wait: Flags.string({
    default: '0',
    helpValue: 'SECONDS',
    summary: 'Keep trying for so long while the server is not up yet.',
  }),
  'retry-for': Flags.string({
    default: '300',
    helpValue: 'SECONDS',
    summary: 'Keep reconnecting for so long after the last new verified chunk; 0 does not reconnect.',
  }),
  idle: Flags.string({
    helpValue: 'SECONDS',
    summary: 'Give up a connection on which nothing comes for so long; 60 unless given.',
  }),
};

/** What those flags and the HOST argument amount to. */
export interface ClientFlags {
  readonly host: string;
  readonly port: number;
  readonly waitMs: number;
  readonly retryForMs: number;
  readonly idleTimeoutMs?: number;
}

/** Parses them. Throws USAGE. */
export function readClientFlags(
  host: string,
  flags: { readonly port?: string | undefined; wait: string; 'retry-for': string; idle?: string | undefined },
): ClientFlags {
  return {
    ...readTarget(host, flags.port),
    waitMs: parseSeconds(flags.wait, '--wait'),
    retryForMs: parseSeconds(flags['retry-for'], '--retry-for'),
    ...given('idleTimeoutMs', flags.idle, parseIdle, '--idle'),
  };
}

function readTarget(text: string, portFlag: string | undefined): Required<Target> {
  const target = parseTarget(text);
  const port = portFlag === undefined ? undefined : parsePort(portFlag);
  if (port !== undefined && target.port !== undefined && port !== target.port) {
    throw new WireBoundError(
      'USAGE',
      `${text} says port ${target.port} but --port says ${port}: give one of them`,
    );
  }
  return { host: target.host, port: target.port ?? port ?? DEFAULT_PORT };
}

function parseIdle(text: string, flag: string): number {
  const timeoutMs = parseSeconds(text, flag);
  if (timeoutMs > 0) return timeoutMs;
  throw new WireBoundError('USAGE', `${flag} ${JSON.stringify(text)} is not valid: give seconds above 0`);
}
