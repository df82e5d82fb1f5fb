import { runCommand } from '../support/command.js';

/** Seconds of `openssl dgst -sha256` for a file: one thread. */
export async function timeOpenssl(path: string): Promise<number> {
  return (await runCommand(['openssl', 'dgst', '-sha256', path])).seconds;
}
