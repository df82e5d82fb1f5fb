import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defaultCacheFolder } from '../core/digest/default-cache-folder.js';
import { installedUrl } from '../core/installed-url.js';
import { loadCompiled } from './load-compiled.js';

// What `bin/run.js` runs, in a bundle of its own: finds the bundle of the command line and runs that.
const bundle = fileURLToPath(installedUrl('cli.cjs'));
const [, , command = ''] = process.argv;
// Each command uses other parts of the bundle; what is no command leaves nothing behind.
const compiled = /^[a-z]+$/.test(command)
  ? join(defaultCacheFolder(process.env, process.platform, homedir()), 'code', command)
  : undefined;
const { runCli } = loadCompiled(bundle, compiled) as typeof import('./run-cli.js');
void runCli(dirname(dirname(bundle)));
