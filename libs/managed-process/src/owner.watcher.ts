import { spawn } from 'node:child_process';

/**
 * Sends `signal` to the process `pid` if this process dies without stopping it: the watcher reads from a pipe whose
 * other end the system closes then. Returns a function that ends the watch; call it once `pid` is gone. Windows has no
 * such shell; there an orphan runs until the next start stops it.
 */
export function killWithOwner(pid: number, signal: 'SIGTERM' | 'SIGKILL'): () => void {
  if (process.platform === 'win32') return () => undefined;
  const script = 'read -r line; kill -s "$2" "$1" 2>/dev/null';
  const watcher = spawn('/bin/sh', ['-c', script, 'tollkeeper-owner-watcher', String(pid), signal.slice(3)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  watcher.on('error', () => undefined);
  watcher.unref();
  return () => watcher.kill('SIGKILL');
}
