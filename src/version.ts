import { readFileSync } from 'node:fs';
import { installedUrl } from './core/installed-url.js';

/** The version of this package. */
export const version: string = JSON.parse(readFileSync(installedUrl('../package.json'), 'utf8')).version;
