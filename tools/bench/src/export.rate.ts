import { setInterval as everyFew } from 'node:timers';
import { zstdDecompressSync } from 'node:zlib';
import type { DashboardService } from '@tollkeeper/dashboard';
import { mongo } from 'mongoose';
import type { DashboardStack } from './dashboard.stack.ts';
import { createStopwatch, type Run } from './stopwatch.ts';

/** The time of an export, or of what it is compared with. */
export interface ExportRun extends Run {
  what: string;
  bytes: number;
  /** By how much the memory of this process grew, at most. */
  peakBytes: number;
}

const SAMPLE_MS = 20;
const PATH = '/api/v1/dashboard/export?range=3m';

/** Exports of all calls over HTTP, and reading the same chunks without looking into them. Each runs once to warm up. */
export async function measureExports(
  stack: DashboardStack,
  dashboard: DashboardService,
  { database, calls }: { database: string; calls: number },
): Promise<ExportRun[]> {
  const download = (query: string) => () => stack.download(dashboard, `${PATH}&${query}`);
  const runs: [what: string, read: () => Promise<number>][] = [
    ['reading the same chunks, decompressed', () => readChunks(stack.uri, database)],
    ['group_by=call, CSV', download('group_by=call')],
    ['group_by=call, JSON lines', download('group_by=call&format=ndjson')],
    ['FOCUS', download('format=focus')],
  ];
  const measured: ExportRun[] = [];
  for (const [what, read] of runs) {
    await read();
    measured.push({ what, ...(await measure(read, calls)) });
  }
  return measured;
}

async function measure(read: () => Promise<number>, calls: number): Promise<Omit<ExportRun, 'what'>> {
  const before = process.memoryUsage.rss();
  let peakBytes = 0;
  const sampler = everyFew(() => (peakBytes = Math.max(peakBytes, process.memoryUsage.rss() - before)), SAMPLE_MS);
  const stopwatch = createStopwatch();
  stopwatch.start();
  try {
    const bytes = await read();
    return { ...stopwatch.read(calls), bytes, peakBytes };
  } finally {
    clearInterval(sampler);
  }
}

async function readChunks(uri: string, database: string): Promise<number> {
  const client = await new mongo.MongoClient(uri).connect();
  try {
    let bytes = 0;
    const chunks = client.db(database).collection<{ events: mongo.Binary }>('chunks');
    for await (const { events } of chunks.find({}, { projection: { events: 1 }, sort: { from: 1 } })) {
      bytes += zstdDecompressSync(events.buffer.subarray(0, events.position)).length;
    }
    return bytes;
  } finally {
    await client.close();
  }
}
