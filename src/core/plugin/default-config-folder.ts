import { posix, win32 } from 'node:path';

/**
 * Where the user's settings are: `$XDG_CONFIG_HOME/wirebound` where that is set (relative values are ignored, as
 * the XDG base directory specification demands), otherwise `~/.config/wirebound`, or `%LOCALAPPDATA%\wirebound` on
 * Windows.
 */
export function defaultConfigFolder(env: NodeJS.ProcessEnv, platform: NodeJS.Platform, home: string): string {
  const { isAbsolute, join } = platform === 'win32' ? win32 : posix;
  const xdg = env.XDG_CONFIG_HOME;
  if (xdg !== undefined && isAbsolute(xdg)) return join(xdg, 'wirebound');
  if (platform === 'win32') return join(env.LOCALAPPDATA || join(home, 'AppData', 'Local'), 'wirebound');
  return join(home, '.config', 'wirebound');
}
