import { type ErrorCode, isErrorCode } from '../../errors.js';
import { parseJson, requireText } from '../json-fields.js';
import { MAX_TEXT, shortenText } from './message-text.js';

/** What an Error frame says. */
export interface PeerError {
  /** INTERNAL stands for codes this program does not know. */
  readonly code: ErrorCode;
  readonly message: string;
}

export function encodeError(error: { readonly code: ErrorCode; readonly message: string }): Uint8Array {
  return Buffer.from(JSON.stringify({ code: error.code, message: shortenText(error.message) }));
}

export function parseError(content: Uint8Array): PeerError {
  const fields = parseJson(content, 'error');
  const code = requireText(fields, 'code', 40);
  return {
    code: isErrorCode(code) ? code : 'INTERNAL',
    message: requireText(fields, 'message', MAX_TEXT),
  };
}
