import { WireBoundError } from 'wirebound';

/** What a reference names: where to ask, and as whom. */
export interface WebAddress {
  /** Without user, password and fragment. */
  readonly url: string;
  /** Value of the Authorization header, where the reference has a user. */
  readonly authorization?: string;
  /** For people: without user, password and query, which may hold secrets. */
  readonly label: string;
  /** What clients call the file: the last part of the path, or the host. */
  readonly name: string;
}

/** Reads a reference. Throws USAGE for what is no URL. */
export function parseWebAddress(reference: string): WebAddress {
  let url: URL;
  try {
    url = new URL(reference);
  } catch {
    throw new WireBoundError('USAGE', `${JSON.stringify(reference.split(/[?#@]/)[0])} is not a URL`);
  }
  const { username, password } = url;
  const label = `${url.origin}${url.pathname}`;
  url.username = '';
  url.password = '';
  url.hash = '';
  const credentials = Buffer.from(`${decode(username)}:${decode(password)}`).toString('base64');
  return {
    url: url.href,
    label,
    name: fileName(url),
    ...(username === '' && password === '' ? {} : { authorization: `Basic ${credentials}` }),
  };
}

function fileName(url: URL): string {
  const last = decode(url.pathname.split('/').findLast((part) => part !== '') ?? '').replace(/[/\0]/g, '_');
  return last === '' || last === '.' || last === '..' ? url.hostname : last;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
