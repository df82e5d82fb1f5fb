import { isIPv6 } from 'node:net';
import { WireBoundError } from '../core/errors.js';
import { parsePort } from '../core/units.js';

/** Where a server is, as typed after `wirebound get`. */
export interface Target {
  /** A name or an address, without brackets; an IPv6 address keeps its zone. Never empty. */
  readonly host: string;
  readonly port?: number;
}

/**
 * Reads `HOST`, `HOST:PORT`, `[IPV6]`, `[IPV6]:PORT` or a bare IPv6 address (with a zone: `fe80::1%eth0`).
 * @throws WireBoundError USAGE for anything else, above all for an empty text, which a socket would take for
 * this machine.
 */
export function parseTarget(text: string): Target {
  const trimmed = text.trim();
  if (trimmed === '') throw refuse(text, 'it is empty; give the address of the server');
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed)) throw refuse(text, 'give host[:port], not a URL');
  if (trimmed.includes('@')) throw refuse(text, 'give host[:port], without a user name');
  const target = splitPort(trimmed, text);
  if (isIPv6(target.host)) checkZone(target.host, text);
  else if (!/^[\p{L}\p{N}_](?:[\p{L}\p{N}_.-]*)$/u.test(target.host)) {
    throw refuse(text, 'that is not a host name or an address');
  }
  return target;
}

function splitPort(trimmed: string, text: string): Target {
  const bracketed = /^\[([^\]]*)\](?::(.*))?$/.exec(trimmed);
  if (bracketed !== null) {
    const [, host = '', port] = bracketed;
    if (!isIPv6(host)) throw refuse(text, 'there is no IPv6 address in the brackets');
    return withPort(host, port, text);
  }
  if (isIPv6(trimmed)) return { host: trimmed };
  const colon = trimmed.indexOf(':');
  if (colon === -1) return { host: trimmed };
  if (colon !== trimmed.lastIndexOf(':')) {
    throw refuse(text, 'that is not an IPv6 address; with a port it is written [ADDRESS]:PORT');
  }
  return withPort(trimmed.slice(0, colon), trimmed.slice(colon + 1), text);
}

function withPort(host: string, port: string | undefined, text: string): Target {
  if (host === '') throw refuse(text, 'the host before the port is missing');
  return port === undefined
    ? { host }
    : { host, port: parsePort(port, `the port in ${JSON.stringify(text)}:`) };
}

function checkZone(host: string, text: string): void {
  if (/^fe[89ab]/i.test(host) && !host.includes('%')) {
    throw refuse(text, `a link-local address needs a zone such as %eth0 (${host}%eth0)`);
  }
}

function refuse(text: string, reason: string): WireBoundError {
  return new WireBoundError('USAGE', `${JSON.stringify(text)} is not a host: ${reason}`);
}
