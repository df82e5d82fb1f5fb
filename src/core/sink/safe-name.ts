import { extname } from 'node:path';
import { WireBoundError } from '../errors.js';
import { escapeForTerminal } from '../escape.js';
import { cutText } from './cut-text.js';

const MAX_NAME_BYTES = 255;
const MAX_EXTENSION_BYTES = 32;
const MAX_SHOWN_BYTES = 80;

const CONTROL = /[\p{Cc}\p{Cs}]/gu;

/** https://learn.microsoft.com/windows/win32/fileio/naming-a-file */
const WINDOWS_FORBIDDEN = /[<>:"|?*]|[. ]$/gu;
const WINDOWS_RESERVED = /^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9\u00b9\u00b2\u00b3])(?= *(\.|$))/iu;

/**
 * The name that a peer announced as exactly one path component that is safe to create inside a folder on
 * `platform`. Normalisation forms, leading dots and dashes, quotes and everything else that is legal there
 * stay byte for byte; control characters and lone surrogates become `_`; a name over 255 bytes loses the end of
 * its stem. On win32 what only Windows forbids is replaced too: characters by `%NN`, `CON` by `CON_`.
 *
 * Throws SINK_UNSAFE, with the name escaped, for names that hold a separator (`\` is one on win32 only) or that
 * are empty, `.`, `..` or nothing but spaces.
 */
export function safeName(announced: string, platform: NodeJS.Platform): string {
  const windows = platform === 'win32';
  if (announced.trim() === '') throw refused(announced, 'is empty');
  if (announced === '.' || announced === '..') throw refused(announced, 'is a folder');
  if (announced.includes('/') || (windows && announced.includes('\\'))) {
    throw refused(announced, 'holds a path separator');
  }
  const printable = announced.replace(CONTROL, '_');
  return shorten(windows ? nameForWindows(printable) : printable);
}

function refused(announced: string, why: string): WireBoundError {
  const shown = escapeForTerminal(cutText(announced, MAX_SHOWN_BYTES));
  return new WireBoundError('SINK_UNSAFE', `the name the server announced, "${shown}", ${why}`, {
    suggestions: ['choose a name yourself with -o FILE'],
  });
}

function nameForWindows(name: string): string {
  return name
    .replace(WINDOWS_FORBIDDEN, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replace(WINDOWS_RESERVED, '$&_');
}

function shorten(name: string): string {
  if (Buffer.byteLength(name) <= MAX_NAME_BYTES) return name;
  const suffix = extname(name);
  const extension = Buffer.byteLength(suffix) <= MAX_EXTENSION_BYTES ? suffix : '';
  const stem = name.slice(0, name.length - extension.length);
  return cutText(stem, MAX_NAME_BYTES - Buffer.byteLength(extension)) + extension;
}
