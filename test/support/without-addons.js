/** Preloaded (`--import`) to run as on a machine where no native package could be built or loaded. */
import Module, { register } from 'node:module';

const MISSING = ['koffi', 'mmap-io', 'lz4-napi'];

const hook = `export async function resolve(name, context, next) {
  if (${JSON.stringify(MISSING)}.includes(name)) throw new Error(name + ' is not installed');
  return next(name, context);
}`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);

const resolveFilename = Module._resolveFilename;
Module._resolveFilename = function resolve(name, ...rest) {
  if (MISSING.includes(name)) throw new Error(`${name} is not installed`);
  return resolveFilename.call(this, name, ...rest);
};
