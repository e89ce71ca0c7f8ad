import { markdownTable } from '@tollkeeper/testing/markdown-table';
import type { Encoding } from '../src/intake/decode.ts';
import { type Receiver, startSender } from './otlp.transports.ts';

const MINUTE_MS = 60_000;
const MIB = 1024 * 1024;
/** Requests between two looks at the memory. */
const REQUESTS = 20;

/** Sends bodies in both encodings for so many minutes. Resolves to a table of this process's memory by minute. */
export async function watchMemory(
  ingest: Receiver,
  bodies: Record<Encoding, Buffer>,
  minutes: number,
): Promise<string> {
  const sender = startSender();
  const rows: string[][] = [];
  const start = performance.now();
  let [bodiesSent, peak, sum, looks] = [0, 0, 0, 0];
  while (rows.length < minutes) {
    for (const encoding of ['protobuf', 'json'] as const) {
      await sender.send(ingest, { transport: 'HTTP', encoding, gzip: true }, bodies[encoding], REQUESTS);
      bodiesSent += REQUESTS;
      const resident = process.memoryUsage.rss() / MIB;
      [peak, sum, looks] = [Math.max(peak, resident), sum + resident, looks + 1];
    }
    if (performance.now() - start < (rows.length + 1) * MINUTE_MS) continue;
    rows.push([`${rows.length + 1}`, String(bodiesSent), (sum / looks).toFixed(0), peak.toFixed(0)]);
    [peak, sum, looks] = [0, 0, 0];
  }
  sender.stop();
  return markdownTable(['minute', 'bodies so far', 'mean MiB resident', 'peak MiB'], rows);
}
