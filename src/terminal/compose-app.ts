import { homedir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Interfaces } from '@oclif/core';
import type { App } from '../composition.js';
import { defaultConfigFolder } from '../core/plugin/default-config-folder.js';
import { gatherRequests } from '../core/plugin/gather-requests.js';
import { PLUGIN_HOOK } from '../core/plugin/package-entry.js';
import type { PluginRequest } from '../core/plugin/plugin-request.js';
import { letGoOfOutput } from './let-go-of-output.js';

/** What {@link composeApp} goes by. */
export interface ComposeAppOptions {
  /** Values of the flags that every command with plugins has. */
  readonly flags: { readonly plugin?: readonly string[] | undefined; readonly config?: string | undefined };
  readonly oclif: Interfaces.Config;
  /** See {@link ComposeOptions}. */
  readonly purpose?: 'get';
  /** Lists plugins that fail instead of rejecting, whoever asked for them. */
  readonly tolerant?: boolean;
  /** Told of everything that is wrong with plugins that nobody named on this command line. */
  warn(message: string): void;
}

/**
 * The app with the plugins that the local user asks for. Rejects with PLUGIN_FAILED for one that was named by
 * `--plugin`; the others never keep the app from starting.
 */
export async function composeApp(options: ComposeAppOptions): Promise<App> {
  const { flags, oclif, purpose, tolerant = false, warn } = options;
  // Loading takes a while: it goes on while the requests are gathered.
  const loading = import('../composition.js');
  letGoOfOutput();
  const { requests, failure } = gatherRequests({
    plugins: flags.plugin ?? [],
    config: flags.config,
    configFolder: defaultConfigFolder(process.env, process.platform, homedir()),
    env: process.env,
    cwd: currentFolder(),
  });
  const { compose } = await loading;
  const app = await compose({
    plugins: [...requests, ...hookRequests(oclif)],
    tolerant,
    ...(purpose === undefined ? {} : { purpose }),
  });
  for (const { message } of failure === undefined ? [] : [failure]) warn(message);
  for (const { message } of app.pluginFailures()) warn(message);
  return app;
}

/** One that has been removed keeps only those out who need something in it. */
function currentFolder(): string {
  try {
    return process.cwd();
  } catch {
    return process.env.PWD ?? homedir();
  }
}

/** Plugins that oclif itself has loaded and that hook in here. */
function hookRequests(oclif: Interfaces.Config): readonly PluginRequest[] {
  return oclif.getPluginsList().flatMap(({ name, root, hooks }) => {
    const targets = [(hooks as Readonly<Record<string, unknown>>)[PLUGIN_HOOK] ?? []].flat();
    return targets.map((hook): PluginRequest => {
      const target = typeof hook === 'string' ? hook : String((hook as { target?: unknown }).target);
      const specifier = pathToFileURL(join(root, target)).href;
      return { specifier, askedBy: `oclif plugin ${name}`, folder: root, required: false };
    });
  });
}
