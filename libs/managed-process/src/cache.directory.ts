import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * Cache for downloads, shared by all data directories of this user: `$XDG_CACHE_HOME/tollkeeper`, or
 * `~/.cache/tollkeeper`.
 */
export function defaultCacheDirectory(env: NodeJS.ProcessEnv = process.env): string {
  return join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'tollkeeper');
}
