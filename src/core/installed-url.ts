const HERE = import.meta.url;
/** The folder that everything is built into; this module may lie anywhere in it, in a bundle too. */
const DIST = HERE.slice(0, HERE.lastIndexOf('/dist/') + '/dist/'.length);

/** Where a file of this package is installed; `path` is relative to `dist/`. */
export function installedUrl(path: string): URL {
  return new URL(path, DIST);
}
