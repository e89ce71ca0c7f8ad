import { existsSync } from 'node:fs';
import { mkdir, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { WatchedProcess } from './memory.watch.ts';

/** Where the two versions of cgroups keep their groups, and the file of a group that has its limit in bytes. */
const VERSIONS = [
  { root: '/sys/fs/cgroup/memory', limit: 'memory.limit_in_bytes' },
  { root: '/sys/fs/cgroup', limit: 'memory.max' },
] as const;

/**
 * Puts each process that has a limit (in bytes, by its name) into a memory cgroup of its own, as Kubernetes does with a
 * container: the kernel kills what needs more. What a process holds at the call is not charged. Where this user may
 * make no cgroups, nothing happens. Resolves to what removes the groups once the processes are gone.
 */
export async function limitMemory(
  processes: readonly WatchedProcess[],
  limits: Readonly<Record<string, number>>,
): Promise<() => Promise<void>> {
  const groups: string[] = [];
  for (const { name, pid } of processes) {
    const bytes = limits[name];
    const group = bytes === undefined ? undefined : await makeGroup(`tollkeeper-${pid}`, bytes);
    if (group === undefined) continue;
    groups.push(group);
    await writeFile(join(group, 'cgroup.procs'), String(pid));
  }
  return async () => {
    for (const group of groups) await rmdir(group);
  };
}

/** The folder of the new group, or undefined where there can be none. */
async function makeGroup(name: string, bytes: number): Promise<string | undefined> {
  for (const { root, limit } of VERSIONS) {
    const group = join(root, name);
    const made = await mkdir(group).then(
      () => true,
      () => false,
    );
    if (!made) continue;
    if (existsSync(join(group, limit))) {
      await writeFile(join(group, limit), String(bytes));
      return group;
    }
    await rmdir(group);
  }
  return undefined;
}
