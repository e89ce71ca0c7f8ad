import { execFileSync } from 'node:child_process';
import { newDataDirectory, removeDataDirectory, startStandalone } from '@tollkeeper/testing/standalone-process';
import { postEvents, settledNow, UNLIMITED_EVENTS } from './posted.events.ts';

/** Resident memory in MB. */
export interface Footprint {
  moment: string;
  standalone: number;
  mongod: number;
}

const BATCHES = 20;

/** Starts the standalone as `npm start` does. Measures its memory when it is ready and after posting events. */
export async function measureStandalone(): Promise<Footprint[]> {
  const dataDirectory = await newDataDirectory();
  const env = { ...UNLIMITED_EVENTS, TOLLKEEPER_DEMO: 'true' };
  const { pid, baseUrl, apiKey, end } = await startStandalone({ dataDirectory, env });
  try {
    const ready = takeFootprint('ready, sample month loaded', pid);
    for (let batch = 0; batch < BATCHES; batch += 1) {
      await postEvents(
        baseUrl,
        apiKey,
        Array.from({ length: 1_000 }, (_, index) => settledNow(index)),
      );
    }
    return [ready, takeFootprint(`after ${BATCHES * 1_000} posted events`, pid)];
  } finally {
    await end('SIGTERM');
    await removeDataDirectory(dataDirectory);
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
