import { execFileSync } from 'node:child_process';
import { postEvents, settledNow, startStandalone } from './standalone.process.ts';

/** Resident memory in MB. */
export interface Footprint {
  moment: string;
  standalone: number;
  mongod: number;
}

const BATCHES = 20;

/** Starts the standalone as `npm start` does and takes its memory when it is ready and after events were posted. */
export async function measureStandalone(): Promise<Footprint[]> {
  const { child, url, key, stop } = await startStandalone();
  try {
    const ready = takeFootprint('ready, sample month loaded', child.pid ?? 0);
    for (let batch = 0; batch < BATCHES; batch += 1) {
      await postEvents(
        url,
        key,
        Array.from({ length: 1_000 }, (_, index) => settledNow(index)),
      );
    }
    return [ready, takeFootprint(`after ${BATCHES * 1_000} posted events`, child.pid ?? 0)];
  } finally {
    await stop();
  }
}

function takeFootprint(moment: string, pid: number): Footprint {
  const processes = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,rss=,comm='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/));
  const rssOf = (matches: (row: string[]) => boolean): number =>
    processes.filter(matches).reduce((total, [, , rss]) => total + (Number(rss) * 1_024) / 1e6, 0);
  return {
    moment,
    standalone: rssOf(([id]) => id === String(pid)),
    mongod: rssOf(([, parent, , command]) => parent === String(pid) && command?.includes('mongod') === true),
  };
}
