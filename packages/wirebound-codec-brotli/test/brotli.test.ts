import { describe, test } from '@jest/globals';
import { codecContract } from 'wirebound/testing';
import plugin from '../dist/index.js';

for (const codec of plugin.codecs) {
  describe(`${codec.name} keeps the codec contract`, () => {
    for (const { title, run } of codecContract(codec)) test(title, run);
  });
}
