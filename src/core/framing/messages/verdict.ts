import { type ErrorCode, isErrorCode } from '../../errors.js';
import { optionalText, parseJson, requireBoolean } from '../json-fields.js';
import { MAX_TEXT, shortenText } from './message-text.js';

/** What can keep a transfer from being faster. */
export const LIMITS = ['network', 'server', 'codec', 'digest', 'disk'] as const;
export type Limit = (typeof LIMITS)[number];

/** How a client's run ended. */
export interface Verdict {
  readonly verified: boolean;
  /** What limited the transfer, and the share of its time (0 to 1) behind that. */
  readonly limitedBy?: Limit;
  readonly share?: number;
  readonly code?: ErrorCode;
  readonly message?: string;
}

export function encodeVerdict(verdict: Verdict): Uint8Array {
  const message = verdict.message === undefined ? {} : { message: shortenText(verdict.message) };
  return Buffer.from(JSON.stringify({ ...verdict, ...message }));
}

export function parseVerdict(content: Uint8Array): Verdict {
  const fields = parseJson(content, 'verdict');
  const code = optionalText(fields, 'code', 40);
  const message = optionalText(fields, 'message', MAX_TEXT);
  const limit = LIMITS.find((name) => name === fields.values.get('limitedBy'));
  const share = fields.values.get('share');
  return {
    verified: requireBoolean(fields, 'verified'),
    ...(limit === undefined ? {} : { limitedBy: limit }),
    ...(typeof share === 'number' && share >= 0 && share <= 1 ? { share } : {}),
    ...(code === undefined ? {} : { code: isErrorCode(code) ? code : 'INTERNAL' }),
    ...(message === undefined ? {} : { message }),
  };
}
