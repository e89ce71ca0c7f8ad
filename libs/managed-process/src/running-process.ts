import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Distinguishes a process from a later one with the same id, by its boot and its start time. Ids repeat after a reboot,
 * and at every start of a container. Null if no such process runs.
 */
export async function processIdentity(pid: number): Promise<string | null> {
  if (!isRunning(pid)) return null;
  if (process.platform === 'linux') {
    try {
      const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
      const bootId = await readFile('/proc/sys/kernel/random/boot_id', 'utf8');
      // The name in parentheses may contain spaces; the start time is the 20th field after it (proc(5)).
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return fields[0] === 'Z' ? null : `${bootId.trim()}:${fields[19]}`;
    } catch {
      return null;
    }
  }
  if (process.platform === 'win32') return 'running';
  return ps(pid, 'lstart=');
}

/** The command line of a running process, or null. Arguments are separated by one space. */
export async function commandLine(pid: number): Promise<string | null> {
  if (process.platform === 'linux') {
    const text = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    return text === '' ? null : text.split('\0').join(' ').trim();
  }
  return process.platform === 'win32' ? null : ps(pid, 'command=');
}

/** Resolves to true once the process is gone, to false if it still runs after `timeoutMs`. */
export async function waitUntilGone(pid: number, timeoutMs: number): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  while ((await processIdentity(pid)) !== null) {
    if (Date.now() >= deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  return true;
}

/**
 * Suspends the process, with open connections, until it gets SIGCONT. Resolves once it is suspended: the signal takes
 * effect when its main thread next runs, and its other threads may answer until then.
 */
export async function halt(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  while (!(await ps(pid, 'state='))?.startsWith('T')) {
    if (!isRunning(pid)) throw new Error(`process ${pid} ended instead of being suspended`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

async function ps(pid: number, column: string): Promise<string | null> {
  const { stdout } = await run('ps', ['-o', column, '-p', String(pid)]).catch(() => ({ stdout: '' }));
  return stdout.trim() || null;
}

/** Also true for processes of other users, and for one that has ended and waits for its parent. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
