// First, because the thread takes longest to start.
import './start-thread-early.js';
import type { Command } from '@oclif/core';
import Codecs from '../commands/codecs.js';
import Get from '../commands/get.js';
import PluginCheck from '../commands/plugin/check.js';
import PluginCreate from '../commands/plugin/create.js';
import Plugins from '../commands/plugins.js';
import Serve from '../commands/serve.js';
import Sources from '../commands/sources.js';
import Verify from '../commands/verify.js';

export { runCli } from './run-cli.js';

/** What oclif finds the commands by; the entry of the bundle that `bin/run.js` loads. */
export const COMMANDS: Readonly<Record<string, Command.Class>> = {
  codecs: Codecs,
  get: Get,
  'plugin:check': PluginCheck,
  'plugin:create': PluginCreate,
  plugins: Plugins,
  serve: Serve,
  sources: Sources,
  verify: Verify,
};
