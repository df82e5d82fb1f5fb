import { isIP, isIPv6 } from 'node:net';
import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os';
import type { ListenAddress } from './serve-event.js';

type Interfaces = NodeJS.Dict<NetworkInterfaceInfo[]>;

/**
 * The addresses under which a server bound to `boundAddress` (what `server.address()` says: `::` and `0.0.0.0`
 * are all interfaces) can be reached: from other machines first, IPv4 first, link-local IPv6 last, with its
 * zone. A wildcard leaves loopback out unless there is nothing else.
 */
export function listenAddresses(
  boundAddress: string,
  interfaces: Interfaces = networkInterfaces(),
): readonly ListenAddress[] {
  const all = Object.entries(interfaces).flatMap(([name, infos]) =>
    (infos ?? []).map((info) => toListenAddress(name, info)),
  );
  const bound = withoutZone(boundAddress);
  if (bound === '::' || bound === '0.0.0.0') {
    const served = all.filter(({ family }) => bound === '::' || family === 4).sort(byUsefulness);
    const external = served.filter(({ internal }) => !internal);
    return external.length > 0 ? external : served;
  }
  const matching = all.filter(({ address }) => withoutZone(address) === bound);
  return matching.length > 0 ? matching : [unlisted(boundAddress)];
}

function toListenAddress(name: string, info: NetworkInterfaceInfo): ListenAddress {
  const needsZone = isLinkLocal(info.address) && !info.address.includes('%');
  return {
    interface: name,
    address: needsZone ? `${info.address}%${name}` : info.address,
    family: isIPv6(info.address) ? 6 : 4,
    internal: info.internal,
  };
}

/** An address that the system let us bind although no interface lists it (127.0.0.2, for instance). */
function unlisted(address: string): ListenAddress {
  const internal = address.startsWith('127.') || address === '::1';
  return { interface: '', address, family: isIP(withoutZone(address)) === 6 ? 6 : 4, internal };
}

function byUsefulness(a: ListenAddress, b: ListenAddress): number {
  const rank = ({ family, address, internal }: ListenAddress): number =>
    (internal ? 4 : 0) + (family === 6 ? 1 : 0) + (isLinkLocal(address) ? 1 : 0);
  return rank(a) - rank(b);
}

function isLinkLocal(address: string): boolean {
  return /^fe[89ab]/i.test(address);
}

function withoutZone(address: string): string {
  return address.replace(/%.*$/, '');
}
