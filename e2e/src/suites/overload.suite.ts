import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import { logIn } from '../api.client.ts';
import { type CloudEvent, cloudEvent, spendSettled } from '../events.ts';
import type { FleetStage } from '../fleet.stage.ts';
import { readMetric } from '../metrics.ts';
import { newWatchedWorkspace, type WatchedWorkspace } from '../watched.workspace.ts';
import { postEvents } from '../workspace.ts';

const MIB = 1024 * 1024;
/** Sent at once: more batches than ingest lets wait for Kafka, or whose bodies it has room for. */
const BATCHES = 240;
const EVENTS_OF_BATCH = 10;
const EVENT_BYTES = 32 * 1024;
const ROUNDS = 2;
/** So long that ingest itself answers before the gateway times out, even on a slow machine. */
export const UPSTREAM_TIMEOUT_MS = 90_000;
const HANGS_AFTER_MS = 80_000;
const SAMPLE_INTERVAL_MS = 250;
const MAX_MEMORY_BYTES = { gateway: 512 * MIB, ingest: 640 * MIB };

/** Needs a fleet whose gateway waits for {@link UPSTREAM_TIMEOUT_MS}. */
export function describeOverload(stage: FleetStage): void {
  describe('events that pour in while Kafka hangs', () => {
    let workspace: WatchedWorkspace;

    beforeAll(async () => {
      const target = stage.deployment();
      const owner = await logIn(target, target.owner);
      workspace = await newWatchedWorkspace({ target, owner, receiver: stage.receiver(), alarms: 2 });
      await workspace.gateway.report(workspace.nextBatch(10));
    });
    afterAll(() => {
      stage.deployment().fleet.kafka?.resume();
      workspace.gateway.close();
    });

    it('are refused in time with Retry-After and in bounded memory, and are taken and counted once Kafka answers again', async () => {
      const { fleet } = stage.deployment();
      const batches = Array.from({ length: BATCHES }, largeBatch);
      const memory = {
        gateway: watchMemory(fleet.services.gateway[0]!),
        ingest: watchMemory(fleet.services.ingest[0]!),
      };
      await fleet.kafka?.pause();
      const answers = (await Promise.all(batches.map((batch) => pour(batch, ROUNDS)))).flat();
      const peaks = { gateway: await memory.gateway.stop(), ingest: await memory.ingest.stop() };
      fleet.kafka?.resume();

      const byAnswer = Object.entries(Object.groupBy(answers, (answer) => answer));
      const shown = byAnswer.map(([answer, { length } = { length: 0 }]) => `${length} × ${answer}`).join(', ');
      const mib = (bytes: number) => `${(bytes / MIB).toFixed(1)} MiB`;
      process.stdout.write(
        `\n${answers.length} batches of ${mib(EVENTS_OF_BATCH * EVENT_BYTES)} at a Kafka that hangs: ${shown}; ` +
          `peak memory of gateway ${mib(peaks.gateway)}, of ingest ${mib(peaks.ingest)}\n`,
      );
      expect(answers.filter((answer) => !/^(429|503), Retry-After \d+$/.test(answer))).toEqual([]);
      expect(peaks.gateway).toBeLessThan(MAX_MEMORY_BYTES.gateway);
      expect(peaks.ingest).toBeLessThan(MAX_MEMORY_BYTES.ingest);

      await Promise.all([...batches.map((batch) => workspace.gateway.report(batch)), workspace.mark('agent-after')]);
      await eventually(async () => {
        expect(await workspace.sees('agent-after')).toEqual({ counted: true, registered: true, notified: true });
        await workspace.expectExact();
      });
    });

    /** The answers to the batch, sent this many times in sequence. */
    async function pour(batch: CloudEvent[], times: number): Promise<string[]> {
      const answers: string[] = [];
      for (let time = 0; time < times; time++) {
        const hangs = new Promise<string>((resolve) => {
          setTimeout(() => resolve(`no answer within ${HANGS_AFTER_MS} ms`), HANGS_AFTER_MS).unref();
        });
        const answer = postEvents(stage.deployment(), workspace.workspace.apiKey, batch).then(
          ({ status, headers }) => `${status}, Retry-After ${headers['retry-after']}`,
          (error: unknown) => String(error),
        );
        answers.push(await Promise.race([answer, hangs]));
      }
      return answers;
    }
  });
}

/** One settlement among large events, of which only the size matters. */
function largeBatch(): CloudEvent[] {
  const padding = 'x'.repeat(EVENT_BYTES);
  const padded = Array.from({ length: EVENTS_OF_BATCH }, () => cloudEvent('load.padding', { padding }));
  return [spendSettled({ amountMicros: 3 }), ...padded];
}

/** `stop` resolves to the replica's peak memory. */
function watchMemory(replica: { opsUrl: string }): { stop(): Promise<number> } {
  let peakBytes = 0;
  let stopped = false;
  const watching = (async () => {
    while (!stopped) {
      const [sample] = await readMetric(replica, 'process_resident_memory_bytes');
      peakBytes = Math.max(peakBytes, sample?.value ?? Infinity);
      await new Promise((resolve) => setTimeout(resolve, SAMPLE_INTERVAL_MS));
    }
    return peakBytes;
  })();
  return {
    stop() {
      stopped = true;
      return watching;
    },
  };
}
