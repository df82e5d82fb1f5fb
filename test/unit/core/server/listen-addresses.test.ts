import type { NetworkInterfaceInfo } from 'node:os';
import { describe, expect, test } from '@jest/globals';
import { listenAddresses } from '#dist/core/server/listen-addresses.js';

function info(address: string, internal = false): NetworkInterfaceInfo {
  const common = { address, internal, netmask: '', mac: '', cidr: null };
  return address.includes(':') ? { ...common, family: 'IPv6', scopeid: 2 } : { ...common, family: 'IPv4' };
}

const INTERFACES = {
  lo: [info('127.0.0.1', true), info('::1', true)],
  veth0: [info('fe80::1'), info('10.99.0.1')],
  docker0: [info('172.17.0.1'), info('fd00::1')],
};

function shown(bound: string, interfaces = INTERFACES as NodeJS.Dict<NetworkInterfaceInfo[]>): string[] {
  return listenAddresses(bound, interfaces).map(({ interface: name, address }) => `${name} ${address}`);
}

describe('listenAddresses', () => {
  test('lists every address of every interface but loopback, the likeliest first, link-local ones with zone', () => {
    expect(shown('::')).toEqual([
      'veth0 10.99.0.1',
      'docker0 172.17.0.1',
      'docker0 fd00::1',
      'veth0 fe80::1%veth0',
    ]);
  });

  test('lists IPv4 alone for a server that listens on IPv4 alone', () => {
    expect(shown('0.0.0.0')).toEqual(['veth0 10.99.0.1', 'docker0 172.17.0.1']);
  });

  test('shows loopback when there is nothing else, and says that it is internal', () => {
    const lonely = { lo: INTERFACES.lo };
    expect(shown('::', lonely)).toEqual(['lo 127.0.0.1', 'lo ::1']);
    expect(listenAddresses('::', lonely).every(({ internal }) => internal)).toBe(true);
  });

  test('shows only the address that the server was told to listen on', () => {
    expect(shown('10.99.0.1')).toEqual(['veth0 10.99.0.1']);
    expect(shown('::1')).toEqual(['lo ::1']);
    expect(shown('fe80::1%veth0')).toEqual(['veth0 fe80::1%veth0']);
  });

  test('shows an address that no interface lists', () => {
    expect(listenAddresses('127.0.0.2', INTERFACES)).toEqual([
      { interface: '', address: '127.0.0.2', family: 4, internal: true },
    ]);
  });

  test('tells the family of each', () => {
    expect(listenAddresses('::', INTERFACES).map(({ family }) => family)).toEqual([4, 4, 6, 6]);
  });

  test('finds something on this machine', () => {
    expect(listenAddresses('::').length).toBeGreaterThan(0);
  });
});
