import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { killWithOwner } from '@tollkeeper/managed-process';

const CGROUPS = /^tollkeeper-cluster/;
/** Settings of the whole machine that a kubelet changes. */
const KERNEL_SETTINGS = [
  ...['vm/overcommit_memory', 'vm/panic_on_oom', 'kernel/panic', 'kernel/panic_on_oops'],
  ...['kernel/keys/root_maxkeys', 'kernel/keys/root_maxbytes'],
];

/**
 * Runs a script of this folder in separate network, mount and process namespaces: its interfaces, packet filter and
 * mounts are private, and all its processes end with it. Resolves to its exit code.
 */
export async function runInSandbox(script: string, args: string[]): Promise<number> {
  const restoreKernelSettings = await keepKernelSettings();
  const namespaces = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
  const child = spawn('unshare', [...namespaces, process.execPath, join(import.meta.dirname, script), ...args], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  // It ignores SIGTERM; SIGKILL also ends its child.
  const end = () => child.kill('SIGKILL');
  process.once('SIGINT', end).once('SIGTERM', end);
  const stopWatching = child.pid === undefined ? () => undefined : killWithOwner(child.pid, 'SIGKILL');
  const exitCode = await new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
  stopWatching();
  process.off('SIGINT', end).off('SIGTERM', end);
  await restoreKernelSettings();
  await removeCgroups();
  return exitCode;
}

/** Saves the settings; returns a function that restores them. */
async function keepKernelSettings(): Promise<() => Promise<void>> {
  const files = KERNEL_SETTINGS.map((name) => join('/proc/sys', name)).filter((file) => existsSync(file));
  const values = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  return async () => {
    for (const [index, file] of files.entries()) await writeFile(file, values[index] ?? '');
  };
}

/** Control groups belong to the whole machine, and outlive their processes. */
async function removeCgroups(): Promise<void> {
  const root = '/sys/fs/cgroup';
  const hierarchies = existsSync(join(root, 'cgroup.controllers'))
    ? [root]
    : (await readdir(root)).map((name) => join(root, name));
  for (const hierarchy of hierarchies) {
    const names = await readdir(hierarchy).catch(() => []);
    for (const name of names.filter((found) => CGROUPS.test(found))) await removeTree(join(hierarchy, name));
  }
}

async function removeTree(group: string): Promise<void> {
  const entries = await readdir(group, { withFileTypes: true });
  for (const entry of entries) if (entry.isDirectory()) await removeTree(join(group, entry.name));
  await rmdir(group).catch(() => undefined);
}
