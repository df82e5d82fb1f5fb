import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire, Module } from 'node:module';
import { dirname } from 'node:path';
import { Script } from 'node:vm';

const KEY_LENGTH = 32;

/**
 * Loads a CommonJS file like `require`, with the code that V8 compiled for it when it was last run: compiling anew
 * takes a third of the time in which a command starts. That code is kept in `cachePath`, behind a digest of the
 * file and of the version of Node; it is written again when either has changed, at a successful exit, so that it
 * has what the command has used. Where it cannot be kept everything works all the same.
 *
 * Code that comes from there cannot `import()`: the file finds a function `importModule` that can.
 */
export function loadCompiled(path: string, cachePath: string | undefined): unknown {
  const source = readFileSync(path, 'utf8');
  const key = createHash('sha256').update(process.version).update(process.arch).update(source).digest();
  const kept = cachePath === undefined ? undefined : readKept(cachePath, key);
  const script = new Script(`(function(module,exports,require,__filename,importModule){${source}\n})`, {
    filename: path,
    ...(kept === undefined ? {} : { cachedData: kept }),
  });
  if (cachePath !== undefined && script.cachedDataRejected !== false) {
    process.on('exit', (exitCode) => {
      if (exitCode === 0) keep(cachePath, key, script.createCachedData());
    });
  }
  const module = new Module(path);
  const require = createRequire(path);
  require.cache[path] = module as NodeJS.Module; // whoever requires the file gets this one
  const importModule = (specifier: string) => import(specifier);
  script.runInThisContext()(module, module.exports, require, path, importModule);
  return module.exports;
}

function readKept(path: string, key: Uint8Array): Buffer | undefined {
  try {
    const bytes = readFileSync(path);
    return bytes.subarray(0, KEY_LENGTH).equals(key) ? bytes.subarray(KEY_LENGTH) : undefined;
  } catch {
    return undefined;
  }
}

function keep(path: string, key: Uint8Array, code: Uint8Array): void {
  const partial = `${path}.${process.pid}`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(partial, Buffer.concat([key, code]), { mode: 0o600 });
    renameSync(partial, path);
  } catch {
    removeQuietly(partial); // and not a word: all that is lost is a faster start
  }
}

function removeQuietly(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // What cannot be written there cannot be removed there either.
  }
}
