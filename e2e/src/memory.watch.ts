import { execFile } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const SAMPLE_INTERVAL_MS = 250;

/** A process of a deployment. */
export interface WatchedProcess {
  name: string;
  pid: number;
}

/** The peak memory of each process in bytes, by name. */
export type MemoryPeaks = ReadonlyMap<string, number>;

/** Samples the resident memory of processes a few times a second until it is stopped. */
export function watchMemory(processes: readonly WatchedProcess[]): { stop(): Promise<MemoryPeaks> } {
  const peaks = new Map<string, number>();
  const stopping = new AbortController();
  const { signal } = stopping;
  const watching = (async () => {
    do {
      const resident = await residentBytes(processes.map(({ pid }) => pid));
      for (const { name, pid } of processes) peaks.set(name, Math.max(peaks.get(name) ?? 0, resident.get(pid) ?? 0));
      await delay(SAMPLE_INTERVAL_MS, undefined, { signal }).catch(() => undefined);
    } while (!signal.aborted);
    return peaks;
  })();
  return {
    stop() {
      stopping.abort();
      return watching;
    },
  };
}

async function residentBytes(pids: readonly number[]): Promise<Map<number, number>> {
  const { stdout } = await run('ps', ['-o', 'pid=,rss=', '-p', pids.join(',')]);
  const rows = stdout.trim().split('\n');
  return new Map(rows.map((row) => row.trim().split(/\s+/).map(Number)).map(([pid = 0, kib = 0]) => [pid, kib * 1024]));
}
