import { existsSync } from 'node:fs';
import { mkdir, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { WatchedProcess } from './memory.watch.ts';

/** The folders of the two versions of cgroups, and the file with a group's limit in bytes. */
const VERSIONS = [
  { root: '/sys/fs/cgroup/memory', limit: 'memory.limit_in_bytes' },
  { root: '/sys/fs/cgroup', limit: 'memory.max' },
] as const;

/**
 * Puts each process with a limit (in bytes, by name) into its own memory cgroup, as Kubernetes does with a container:
 * the kernel kills it if it needs more. Memory that it holds already is not charged. If this user may not create
 * cgroups, nothing happens. Resolves to a function that removes the groups once the processes are gone.
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

/** The folder of the new group, or undefined if it cannot be created. */
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
