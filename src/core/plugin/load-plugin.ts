import { causeLine } from '../cause-line.js';
import { WireBoundError } from '../errors.js';
import { escapeForTerminal } from '../escape.js';
import { PLUGIN_API_VERSION, type Plugin } from './plugin.js';
import { type ResolveOptions, resolvePlugin } from './resolve-plugin.js';

/** How long a module may take to load, milliseconds; one that waits for ever would keep the program from starting. */
const LOAD_TIMEOUT_MS = 10_000;

/** How {@link loadPlugin} finds and loads a module. */
export interface LoadOptions extends ResolveOptions {
  /** 10 s unless given. */
  readonly timeoutMs?: number;
}

/**
 * Imports a plugin module and checks what it exports; see {@link resolvePlugin} for what `specifier` may be. The
 * default export is the plugin, or a function that returns it (an oclif hook). Rejects with PLUGIN_FAILED, naming
 * the specifier and the cause in one line, when the module is missing, throws at import, does not finish loading,
 * has no plugin, is written for another API version, or has a codec or source of the wrong shape. The import runs
 * the module's code.
 */
export async function loadPlugin(specifier: string, options: LoadOptions = {}): Promise<Plugin> {
  const url = resolvePlugin(specifier, options);
  return loadModule(specifier, () => import(url), options.timeoutMs);
}

/** Like {@link loadPlugin}, of a module that `load` imports; `label` names it in what may go wrong. */
export async function loadModule(
  label: string,
  load: () => Promise<{ readonly default?: unknown }>,
  timeoutMs: number = LOAD_TIMEOUT_MS,
): Promise<Plugin> {
  let plugin: unknown;
  try {
    plugin = await withDeadline(load().then(exportedPlugin), timeoutMs);
  } catch (error) {
    const message = `plugin ${escapeForTerminal(label)} cannot be loaded: ${causeLine(error)}`;
    throw new WireBoundError('PLUGIN_FAILED', message, { cause: error });
  }
  if (!isRecord(plugin)) throw flawed(label, 'has no plugin as its default export');
  return checkPlugin(plugin, label);
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

async function exportedPlugin(module: { readonly default?: unknown }): Promise<unknown> {
  // A CommonJS module that was compiled from an ES module wraps its default export once more.
  const wrapped = module.default as { readonly __esModule?: unknown; readonly default?: unknown } | undefined;
  const exported = wrapped?.__esModule === true ? wrapped.default : module.default;
  return typeof exported === 'function' ? await exported.call({}, {}) : exported;
}

function findFlawInList(label: string, list: unknown, methods: readonly string[]): string | undefined {
  if (!Array.isArray(list)) return `has no list of ${label}`;
  const names = new Set<string>();
  for (const [index, item] of list.entries()) {
    if (!isRecord(item) || typeof item.name !== 'string') return `has no name at ${label}[${index}]`;
    const missing = methods.find((method) => typeof item[method] !== 'function');
    if (missing === 'accepts') return `says neither by scheme nor by accepts what ${label}[${index}] opens`;
    if (missing !== undefined) return `has no function ${label}[${index}].${missing}`;
    if (names.has(item.name)) return `has two ${label} called ${escapeForTerminal(item.name)}`;
    names.add(item.name);
  }
  return undefined;
}

async function withDeadline<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const overdue = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`it did not finish loading within ${timeoutMs / 1000} s`)),
      timeoutMs,
    );
  });
  try {
    return await Promise.race([work, overdue]);
  } finally {
    clearTimeout(timer);
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
