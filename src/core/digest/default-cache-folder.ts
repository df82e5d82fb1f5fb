import { posix, win32 } from 'node:path';

/**
 * Where chains are kept between runs: `$XDG_CACHE_HOME/wirebound` where that is set (relative values are ignored,
 * as the XDG base directory specification demands), otherwise the platform's own place: `~/.cache/wirebound`,
 * `~/Library/Caches/wirebound` on macOS, `%LOCALAPPDATA%\wirebound\Cache` on Windows.
 */
export function defaultCacheFolder(env: NodeJS.ProcessEnv, platform: NodeJS.Platform, home: string): string {
  const { isAbsolute, join } = platform === 'win32' ? win32 : posix;
  const xdg = env.XDG_CACHE_HOME;
  if (xdg !== undefined && isAbsolute(xdg)) return join(xdg, 'wirebound');
  if (platform === 'win32') {
    return join(env.LOCALAPPDATA || join(home, 'AppData', 'Local'), 'wirebound', 'Cache');
  }
  return join(home, platform === 'darwin' ? 'Library/Caches' : '.cache', 'wirebound');
}
