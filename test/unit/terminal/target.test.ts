import { describe, expect, test } from '@jest/globals';
import type { WireBoundError } from '#dist/core/errors.js';
import { parseTarget } from '#dist/terminal/target.js';

describe('parseTarget', () => {
  test.each([
    ['192.168.1.20', { host: '192.168.1.20' }],
    ['127.0.0.1:46767', { host: '127.0.0.1', port: 46_767 }],
    [' 127.0.0.1 ', { host: '127.0.0.1' }],
    ['build-server', { host: 'build-server' }],
    ['build_server.example.com:7000', { host: 'build_server.example.com', port: 7000 }],
    ['bücher.example', { host: 'bücher.example' }],
    ['::1', { host: '::1' }],
    ['[::1]', { host: '::1' }],
    ['[::1]:46767', { host: '::1', port: 46_767 }],
    ['::ffff:127.0.0.1', { host: '::ffff:127.0.0.1' }],
    ['fe80::1%eth0', { host: 'fe80::1%eth0' }],
    ['[fe80::1%eth0]:46767', { host: 'fe80::1%eth0', port: 46_767 }],
    ['fd00::6767', { host: 'fd00::6767' }],
  ])('reads %j', (text, target) => {
    expect(parseTarget(text)).toEqual(target);
  });

  test.each([
    ['', 'empty'],
    ['   ', 'empty'],
    ['http://127.0.0.1:46767/', 'give host[:port], not a URL'],
    ['wirebound://x', 'not a URL'],
    ['user@host', 'without a user name'],
    ['-', 'not a host name'],
    ['-o', 'not a host name'],
    ['a b', 'not a host name'],
    ['a/b', 'not a host name'],
    ['host:', 'port from 1 to 65535'],
    ['127.0.0.1:99999', 'port from 1 to 65535'],
    ['127.0.0.1:0', 'port from 1 to 65535'],
    ['[::1]:x', 'port from 1 to 65535'],
    [':6767', 'before the port is missing'],
    ['[]:6767', 'no IPv6 address in the brackets'],
    ['[127.0.0.1]', 'no IPv6 address in the brackets'],
    ['[::1', 'not an IPv6 address'],
    ['1:2:3', 'written [ADDRESS]:PORT'],
    ['fe80::1', 'a zone such as %eth0'],
    ['[FE80::1]:6767', 'a zone such as %eth0'],
  ])('refuses %j as usage: %s', (text, reason) => {
    const parse = () => parseTarget(text);
    expect(parse).toThrow(reason);
    expect(parse).toThrow(JSON.stringify(text));
    expect(parse).toThrow(expect.objectContaining({ code: 'USAGE' }) as unknown as WireBoundError);
  });
});
