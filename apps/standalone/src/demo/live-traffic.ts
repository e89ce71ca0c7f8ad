import { randomBytes } from 'node:crypto';
import { type GatewayEvent, isSpendSettled, type SpendSettledEvent } from '@tollkeeper/contracts';
import { type Clock, newId, type TenantId } from '@tollkeeper/kernel';
import type { Component, Logger } from '@tollkeeper/runtime';
import { createRandom } from './random.ts';
import { runAway } from './runaway.ts';
import { SAMPLE_AGENTS } from './sample-agents.ts';
import { createSampleCalls, type SampleReservations } from './sample-calls.ts';
import { activityAt } from './sample-history.ts';
import { sampleRun } from './sample-run.ts';
import { exportOf, type SampleSpan, spanOf } from './sample-spans.ts';

const TICK_MS = 5_000;
/** Busier than the history, so that windows of a few minutes have data. */
const PACE = 4;
const HOUR_MS = 3_600_000;

export interface LiveTrafficOptions {
  tenantId: TenantId;
  reservations: SampleReservations;
  append: (events: GatewayEvent[]) => Promise<void>;
  /** Takes a body of OTLP traces as JSON, like `/v1/traces`. */
  report: (body: Buffer) => Promise<void>;
  clock: Clock;
  logger: Logger;
}

/**
 * Starts with a runaway agent. Then makes runs of sample agents at random times, at the pace of the hour of the day.
 * Each call is reserved as by a gateway, so a run ends when a budget is used up. The agents report their calls by
 * OpenTelemetry, without a cost; the runaway agent's gateway settles them.
 */
export function createLiveTraffic(options: LiveTrafficOptions): Component {
  const { tenantId, reservations, append, report, clock, logger } = options;
  const random = createRandom(randomBytes(4).readUInt32LE());
  const calls = createSampleCalls({ tenantId, reservations });
  let timer: NodeJS.Timeout | undefined;
  let working: Promise<void> = Promise.resolve();

  function nextRuns(): GatewayEvent[][] {
    const now = clock();
    return SAMPLE_AGENTS.flatMap((agent) => {
      const runs = random.poisson((agent.peakRunsPerHour * activityAt(agent, now) * PACE * TICK_MS) / HOUR_MS);
      const runOf = () => sampleRun({ random, agent, runId: newId('run'), startedAt: now, spentMicros: null }).events;
      return Array.from({ length: runs }, runOf);
    });
  }

  async function make(run: GatewayEvent[], spans: SampleSpan[]): Promise<void> {
    for (const event of run) {
      const time = new Date(clock()).toISOString();
      if (!isSpendSettled(event)) {
        await append([{ ...event, time }]);
        continue;
      }
      const reservationId = await calls.reserve(event);
      if (reservationId === null) return;
      spans.push(spanOf({ ...event, time }, reservationId));
    }
  }

  /** Sample traffic needs no retry: the next tick makes more. */
  async function tick(): Promise<void> {
    const spans: SampleSpan[] = [];
    const interrupted = (err: unknown) => logger.warn({ err }, 'a run of the sample traffic was interrupted');
    for (const run of nextRuns()) await make(run, spans).catch(interrupted);
    if (spans.length > 0) await report(exportOf(spans)).catch(interrupted);
  }

  async function settle(event: SpendSettledEvent): Promise<boolean> {
    const reservationId = await calls.reserve(event);
    if (reservationId === null) return false;
    await calls.settle(event, reservationId);
    return true;
  }

  return {
    name: 'live-traffic',
    async start() {
      // Gives the first page something to show.
      const onFailure = (err: unknown) => logger.warn({ err }, 'a call of the sample runaway agent failed');
      working = runAway({ random, clock, call: settle, append, onFailure }).catch((err: unknown) =>
        logger.warn({ err }, 'the sample runaway agent was interrupted'),
      );
      timer = setInterval(() => {
        working = working.then(tick);
      }, TICK_MS);
    },
    async stop() {
      clearInterval(timer);
      await working;
    },
  };
}
