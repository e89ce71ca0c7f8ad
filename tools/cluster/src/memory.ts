import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { appOf, type Installation } from './installation.ts';
import type { Node } from './node.ts';

const SAMPLE_MS = 3_000;
const MIB = 2 ** 20;

/** The peak memory of a container of an app, and its limit, in MiB. */
export interface Peak {
  peakMib: number;
  limitMib: number;
}

/** Watches the memory of all pods until `stop`, which resolves to the peak of each app. */
export function watchMemory(node: Node, installation: Installation): { stop(): Promise<Map<string, Peak>> } {
  const peaks = new Map<string, Peak>();
  let stopped = false;

  async function sample(): Promise<void> {
    for (const pod of await installation.pods()) {
      const container = pod.status.containerStatuses?.[0]?.containerID?.replace('containerd://', '') ?? '';
      // A container that ends meanwhile has no cgroup any more.
      const found = await readPeak(() => node.cgroupOf('memory', pod.metadata.uid, container)).catch(() => undefined);
      if (found === undefined) continue;
      const app = appOf(pod);
      peaks.set(app, { ...found, peakMib: Math.max(found.peakMib, peaks.get(app)?.peakMib ?? 0) });
    }
  }

  async function run(): Promise<void> {
    while (!stopped) {
      await sample().catch(() => undefined);
      await new Promise((settle) => setTimeout(settle, SAMPLE_MS));
    }
  }

  const running = run();
  return {
    async stop() {
      stopped = true;
      await running;
      return peaks;
    },
  };
}

/** The kernel records the peak. In cgroup v1 it includes the cache of files, of which a service has little. */
async function readPeak(cgroup: () => string): Promise<Peak> {
  const read = async (...names: string[]): Promise<number> => {
    const texts = names.map((name) => readFile(join(cgroup(), name), 'utf8').catch(() => ''));
    return Number((await Promise.all(texts)).find((text) => text !== '')?.trim() ?? Number.NaN);
  };
  const peak = await read('memory.max_usage_in_bytes', 'memory.peak');
  const limit = await read('memory.limit_in_bytes', 'memory.max');
  if (Number.isNaN(peak)) throw new Error('no such container');
  return { peakMib: Math.round(peak / MIB), limitMib: Math.round(limit / MIB) };
}
