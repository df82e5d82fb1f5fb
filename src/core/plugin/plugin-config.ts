import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { causeLine } from '../cause-line.js';
import { systemCode, WireBoundError } from '../errors.js';
import { escapeForTerminal } from '../escape.js';
import type { PluginRequest } from './plugin-request.js';

/** The name of the configuration file in the user's configuration folder. */
export const CONFIG_NAME = 'wirebound.config.json';

/** Nobody lists that many plugins; a file this large is something else. */
const MOST_BYTES = 1024 * 1024;

/**
 * The plugins that a configuration file lists: `{ "plugins": ["./mine.js", "wirebound-codec-zstd"] }`. Relative
 * paths start at the file's folder, and packages may be installed there. Undefined when there is no such file;
 * throws USAGE, naming file and flaw, when it is anything else.
 */
export function readPluginConfig(path: string): readonly PluginRequest[] | undefined {
  const file = resolve(path);
  const text = readText(file);
  if (text === undefined) return undefined;
  const folder = dirname(file);
  return listOf(file, text).map((specifier) => ({
    specifier,
    askedBy: file,
    folder,
    packagesFrom: folder,
    required: false,
  }));
}

function readText(file: string): string | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error))) return undefined;
    throw flawed(file, `cannot be read (${systemCode(error) || causeLine(error)})`);
  }
  if (text.length > MOST_BYTES)
    throw flawed(file, `has ${text.length} characters, too many for a list of plugins`);
  return text;
}

function listOf(file: string, text: string): readonly string[] {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\ufeff/, ''));
  } catch (error) {
    throw flawed(file, `is not JSON: ${causeLine(error)}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw flawed(file, 'is not an object');
  }
  const unknown = Object.keys(value).find((key) => key !== 'plugins' && key !== '$schema');
  if (unknown !== undefined)
    throw flawed(file, `has an unknown setting "${escapeForTerminal(unknown.slice(0, 40))}"`);
  const { plugins = [] } = value as { readonly plugins?: unknown };
  if (Array.isArray(plugins) && plugins.every((each) => typeof each === 'string' && each !== ''))
    return plugins;
  throw flawed(file, 'has no list of names and paths as its "plugins"');
}

function flawed(file: string, flaw: string): WireBoundError {
  return new WireBoundError('USAGE', `the configuration ${escapeForTerminal(file)} ${flaw}`, {
    suggestions: ['it looks like this: { "plugins": ["./my-codec.js", "wirebound-codec-zstd"] }'],
  });
}
