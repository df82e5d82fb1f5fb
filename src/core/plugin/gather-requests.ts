import { join, resolve } from 'node:path';
import { WireBoundError } from '../errors.js';
import { escapeForTerminal } from '../escape.js';
import { CONFIG_NAME, readPluginConfig } from './plugin-config.js';
import type { PluginRequest } from './plugin-request.js';

/** Names and paths in this variable are separated by commas. */
const VARIABLE = 'WIREBOUND_PLUGINS';

/** Where a command learns which plugins its user wants. */
export interface PluginWishes {
  /** Values of `--plugin`. */
  readonly plugins: readonly string[];
  /** Value of `--config`; undefined: the file in `configFolder`, if there is one. */
  readonly config: string | undefined;
  readonly configFolder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

/** What a user wants loaded, and what is wrong with how it was said. */
export interface GatheredRequests {
  readonly requests: readonly PluginRequest[];
  /** A flaw of the configuration file that nobody named on this command line. */
  readonly failure?: WireBoundError;
}

/**
 * All plugins that the local user asks for, by flag, variable and configuration file. The working folder has no say:
 * what lies there may have come from the network. Throws USAGE for a file that `--config` names and that is missing
 * or flawed.
 */
export function gatherRequests({ plugins, config, configFolder, env, cwd }: PluginWishes): GatheredRequests {
  const named: PluginRequest[] = [
    ...plugins.map((specifier) => request(specifier, '--plugin', cwd, true)),
    ...split(env[VARIABLE]).map((specifier) => request(specifier, VARIABLE, cwd, false)),
  ];
  if (config !== undefined) {
    const configured = readPluginConfig(resolve(cwd, config));
    if (configured === undefined) {
      throw new WireBoundError('USAGE', `--config ${escapeForTerminal(config)} does not exist`);
    }
    return { requests: [...named, ...configured] };
  }
  try {
    return { requests: [...named, ...(readPluginConfig(join(configFolder, CONFIG_NAME)) ?? [])] };
  } catch (error) {
    if (!(error instanceof WireBoundError)) throw error;
    return { requests: named, failure: error };
  }
}

function request(specifier: string, askedBy: string, folder: string, required: boolean): PluginRequest {
  // A package in the working folder counts only for someone who names it on the spot.
  return { specifier, askedBy, folder, required, ...(required ? { packagesFrom: folder } : {}) };
}

function split(list: string | undefined): readonly string[] {
  return (list ?? '')
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
}
