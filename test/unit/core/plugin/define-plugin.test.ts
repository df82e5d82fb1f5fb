import { describe, expect, test } from '@jest/globals';
import { definePlugin } from '#dist/core/plugin/plugin.js';

const open = async (reference: string) => ({
  name: reference,
  size: 0,
  read: async () => 0,
  close: async () => {},
});

describe('definePlugin', () => {
  test('fills in what is left out', () => {
    expect(definePlugin({ name: 'x' })).toEqual({ name: 'x', apiVersion: 1, codecs: [], sources: [] });
  });

  test('makes of a scheme what a source accepts', () => {
    const { sources } = definePlugin({
      name: 'x',
      sources: [{ name: 'web', scheme: ['http', 'https'], open }],
    });
    const accepts = ['http://a', 'HTTPS://a', 'httpx://a', 'http:a', '/http://', '-'].map((reference) =>
      sources[0]?.accepts(reference),
    );
    expect(accepts).toEqual([true, true, false, false, false, false]);
  });

  test('keeps a source whole that is an instance of a class', async () => {
    class Web {
      readonly name = 'web';
      readonly scheme = 'web';
      readonly #secret = 'kept';
      open() {
        return open(this.#secret);
      }
      unavailable() {
        return this.#secret;
      }
    }
    const [source] = definePlugin({ name: 'x', sources: [new Web()] }).sources;
    expect(source?.unavailable?.()).toBe('kept');
    expect(await source?.open('web://x', { memoryLimit: 1 })).toMatchObject({ name: 'kept' });
  });
});
