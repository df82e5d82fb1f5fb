import { causeLine } from '../cause-line.js';
import { WireBoundError } from '../errors.js';
import { escapeForTerminal } from '../escape.js';
import { PLUGIN_API_VERSION, type Plugin } from './plugin.js';
import { resolvePlugin } from './resolve-plugin.js';

/**
 * Imports a plugin module and checks what it exports; see {@link resolvePlugin} for what `specifier` may be.
 * Rejects with PLUGIN_FAILED, naming the specifier and the cause in one line, when the module is missing, throws
 * at import, has no default export, is written for another API version, or has a codec or source of the wrong
 * shape. The import runs the module's code.
 */
export async function loadPlugin(specifier: string): Promise<Plugin> {
  const url = resolvePlugin(specifier);
  let module: { readonly default?: unknown };
  try {
    module = await import(url);
  } catch (error) {
    const message = `plugin ${escapeForTerminal(specifier)} cannot be loaded: ${causeLine(error)}`;
    throw new WireBoundError('PLUGIN_FAILED', message, { cause: error });
  }
  if (!isRecord(module.default)) throw flawed(specifier, 'has no plugin as its default export');
  return checkPlugin(module.default, specifier);
}

/**
 * Takes a value for a plugin if it is one of this API version with codecs and sources of the right shape; throws
 * PLUGIN_FAILED, naming `label`, otherwise.
 */
export function checkPlugin(value: unknown, label: string): Plugin {
  const flaw = findFlaw(value);
  if (flaw !== undefined) throw flawed(label, flaw);
  return value as Plugin;
}

function flawed(label: string, flaw: string): WireBoundError {
  return new WireBoundError('PLUGIN_FAILED', `plugin ${escapeForTerminal(label)} ${flaw}`, {
    suggestions: [
      'a plugin is made with definePlugin({ name, codecs, sources }); a module exports it as default',
    ],
  });
}

/** What keeps a value from being a {@link Plugin}, as the rest of a sentence. */
function findFlaw(exported: unknown): string | undefined {
  if (!isRecord(exported)) return 'is not a plugin object';
  const { name, apiVersion, codecs, sources } = exported;
  if (typeof apiVersion !== 'number') return 'does not say which plugin API it is written for';
  if (apiVersion !== PLUGIN_API_VERSION) {
    return `is written for plugin API ${apiVersion}; this WireBound has ${PLUGIN_API_VERSION}`;
  }
  if (typeof name !== 'string' || name === '') return 'has no name';
  return (
    findFlawInList('codecs', codecs, ['encode', 'decode']) ??
    findFlawInList('sources', sources, ['accepts', 'open'])
  );
}

function findFlawInList(label: string, list: unknown, methods: readonly string[]): string | undefined {
  if (!Array.isArray(list)) return `has no list of ${label}`;
  for (const [index, item] of list.entries()) {
    if (!isRecord(item) || typeof item.name !== 'string') return `has no name at ${label}[${index}]`;
    const missing = methods.find((method) => typeof item[method] !== 'function');
    if (missing !== undefined) return `has no function ${label}[${index}].${missing}`;
  }
  return undefined;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
