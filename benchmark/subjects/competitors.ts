import { basename, dirname } from 'node:path';
import { runCommand } from '../support/command.js';
import { isInstalled } from '../support/installed.js';
import type { ServedFile } from '../support/served-file.js';
import type { Workspace } from '../support/workspace.js';
import { startNginx, timeCurl } from './nginx.js';
import { timeOpenssl } from './openssl.js';
import { startPythonServer } from './python-server.js';
import { startRsync } from './rsync.js';

/** What a user would pick instead, as far as it is installed. */
export interface Competitors {
  /** Each gets the file to a path and returns seconds. */
  readonly contenders: Readonly<Record<string, (output: string) => Promise<number>>>;
  /** What is missing, and why. */
  readonly skipped: readonly string[];
  stop(): Promise<void>;
}

/** Starts their servers; each stays out, with a word, where a program it needs is not installed. */
export async function startCompetitors(workspace: Workspace, file: ServedFile): Promise<Competitors> {
  const contenders: Record<string, (output: string) => Promise<number>> = {};
  const skipped: string[] = [];
  const stops: (() => Promise<unknown>)[] = [];
  const needs = (what: string, ...programs: readonly string[]) => {
    const missing = programs.filter((program) => !isInstalled(program));
    if (missing.length > 0) skipped.push(`${what}: ${missing.join(' and ')} not installed`);
    return missing.length === 0;
  };

  if (needs('curl from nginx', 'nginx', 'curl')) {
    const nginx = await startNginx(workspace, file);
    stops.push(nginx.stop);
    contenders['curl from nginx, not verified'] = (output) => timeCurl(nginx.url, output);
    if (needs('curl then openssl dgst', 'openssl')) {
      contenders['curl from nginx, then openssl dgst'] = async (output) =>
        (await timeCurl(nginx.url, output)) + (await timeOpenssl(output));
    }
    if (needs('aria2', 'aria2c')) {
      contenders['aria2 from nginx, with checksum'] = (output) => timeAria2(nginx.url, file, output);
    }
  }
  if (needs('rsync daemon', 'rsync')) {
    const rsync = await startRsync(workspace, file);
    stops.push(() => rsync.command.end());
    contenders['rsync daemon'] = async (output) => (await runCommand(['rsync', rsync.url, output])).seconds;
  }
  if (needs('python3 -m http.server', 'python3', 'curl')) {
    const python = await startPythonServer(file);
    stops.push(() => python.command.end());
    contenders['curl from python3 -m http.server, not verified'] = (output) => timeCurl(python.url, output);
  }
  return {
    contenders,
    skipped,
    stop: async () => {
      for (const stop of stops) await stop();
    },
  };
}

async function timeAria2(url: string, file: ServedFile, output: string): Promise<number> {
  const argv = [
    'aria2c',
    '--no-conf',
    '--quiet',
    '--file-allocation=none',
    `--checksum=sha-256=${file.sha256}`,
  ];
  return (await runCommand([...argv, '-d', dirname(output), '-o', basename(output), url])).seconds;
}
