import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { defaultConfigFolder } from '#dist/core/plugin/default-config-folder.js';
import { gatherRequests } from '#dist/core/plugin/gather-requests.js';
import { withTempFolder } from '../../../support/temp-folder.js';

const wishes = { plugins: [], config: undefined, configFolder: '/nowhere', env: {}, cwd: '/work' };

describe('who may name a plugin', () => {
  test('the command line, a variable and the configuration of the user do, in this order', () =>
    withTempFolder(async (folder) => {
      writeFileSync(join(folder, 'wirebound.config.json'), '{ "plugins": ["./c.js", "d"] }');
      const env = { WIREBOUND_PLUGINS: './b.js, , x' };
      const { requests, failure } = gatherRequests({ ...wishes, plugins: ['a'], configFolder: folder, env });
      expect(failure).toBeUndefined();
      expect(requests.map(({ specifier, folder: base, required }) => [specifier, base, required])).toEqual([
        ['a', '/work', true],
        ['./b.js', '/work', false],
        ['x', '/work', false],
        ['./c.js', folder, false],
        ['d', folder, false],
      ]);
      expect(requests.map(({ packagesFrom }) => packagesFrom)).toEqual([
        '/work',
        undefined,
        undefined,
        folder,
        folder,
      ]);
    }));

  test('a configuration in the working folder does not', () =>
    withTempFolder(async (folder) => {
      writeFileSync(join(folder, 'wirebound.config.json'), '{ "plugins": ["./evil.js"] }');
      expect(gatherRequests({ ...wishes, cwd: folder })).toEqual({ requests: [] });
    }));

  test('--config names another file, and then the usual one does not count', () =>
    withTempFolder(async (folder) => {
      writeFileSync(join(folder, 'wirebound.config.json'), '{ "plugins": ["usual"] }');
      writeFileSync(join(folder, 'other.json'), '{ "plugins": ["other"] }');
      const { requests } = gatherRequests({
        ...wishes,
        config: 'other.json',
        configFolder: folder,
        cwd: folder,
      });
      expect(requests.map(({ specifier }) => specifier)).toEqual(['other']);
      expect(() => gatherRequests({ ...wishes, config: 'gone.json', cwd: folder })).toThrow(
        expect.objectContaining({ code: 'USAGE', message: '--config gone.json does not exist' }),
      );
    }));
});

describe('a configuration file', () => {
  test.each([
    ['{', /is not JSON/],
    ['[]', /is not an object/],
    ['{ "plugin": [] }', /unknown setting "plugin"/],
    ['{ "plugins": "x" }', /no list of names/],
    ['{ "plugins": [1] }', /no list of names/],
    [`"${'x'.repeat(2 ** 20)}"`, /too many/],
  ])('that holds %.20s is a failure when it was named, and a remark when it was not', (text, message) =>
    withTempFolder(async (folder) => {
      const config = join(folder, 'wirebound.config.json');
      writeFileSync(config, text);
      expect(() => gatherRequests({ ...wishes, config })).toThrow(message);
      const { requests, failure } = gatherRequests({ ...wishes, configFolder: folder });
      expect(requests).toEqual([]);
      expect(failure).toMatchObject({ code: 'USAGE', message: expect.stringContaining(config) });
    }),
  );

  test('that is a folder is a remark too', () =>
    withTempFolder(async (folder) => {
      mkdirSync(join(folder, 'wirebound.config.json'));
      expect(gatherRequests({ ...wishes, configFolder: folder }).failure?.message).toMatch(
        /cannot be read \(EISDIR\)/,
      );
    }));

  test('is where the platform keeps such files', () => {
    expect(defaultConfigFolder({ XDG_CONFIG_HOME: '/c' }, 'linux', '/h')).toBe('/c/wirebound');
    expect(defaultConfigFolder({ XDG_CONFIG_HOME: 'c' }, 'linux', '/h')).toBe('/h/.config/wirebound');
    expect(defaultConfigFolder({ LOCALAPPDATA: 'C:\\L' }, 'win32', 'C:\\h')).toBe('C:\\L\\wirebound');
    expect(defaultConfigFolder({}, 'win32', 'C:\\h')).toBe('C:\\h\\AppData\\Local\\wirebound');
  });
});
