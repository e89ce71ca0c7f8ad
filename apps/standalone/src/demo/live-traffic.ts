import { randomBytes } from 'node:crypto';
import type { GatewayEvent } from '@tollkeeper/contracts';
import { type Clock, newId } from '@tollkeeper/kernel';
import type { Component, Logger } from '@tollkeeper/runtime';
import { createRandom } from './random.ts';
import { SAMPLE_AGENTS } from './sample-agents.ts';
import { activityAt } from './sample-history.ts';
import { sampleRun } from './sample-run.ts';

const TICK_MS = 5_000;
/** Busier than the history, so that windows of a few minutes show something. */
const PACE = 4;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export interface LiveTrafficOptions {
  append: (events: GatewayEvent[]) => Promise<void>;
  clock: Clock;
  logger: Logger;
}

/** Reports a run of some sample agent now and then, at the pace of the hour of the day. */
export function createLiveTraffic({ append, clock, logger }: LiveTrafficOptions): Component {
  const random = createRandom(randomBytes(4).readUInt32LE());
  let timer: NodeJS.Timeout | undefined;
  /** USD micros of this day by agent, as far as this process has seen it. */
  const spent = new Map<string, number>();
  let day = 0;
  let appending: Promise<void> = Promise.resolve();

  function nextEvents(): GatewayEvent[] {
    const now = clock();
    const today = Math.floor(now / DAY_MS);
    if (today !== day) spent.clear();
    day = today;
    return SAMPLE_AGENTS.flatMap((agent) => {
      const runs = random.poisson((agent.peakRunsPerHour * activityAt(agent, now) * PACE * TICK_MS) / HOUR_MS);
      return Array.from({ length: runs }, () => {
        const spentMicros = spent.get(agent.agentId) ?? 0;
        const run = sampleRun({ random, agent, runId: newId('run'), startedAt: now, spentMicros });
        spent.set(agent.agentId, spentMicros + run.costMicros);
        return endAt(now, run.events);
      }).flat();
    });
  }

  async function tick(): Promise<void> {
    const events = nextEvents();
    if (events.length === 0) return;
    // Sample traffic is not worth a retry: the next tick brings more.
    await append(events).catch((err: unknown) => logger.warn({ err }, 'sample traffic could not be written'));
  }

  return {
    name: 'live-traffic',
    async start() {
      timer = setInterval(() => {
        appending = appending.then(tick);
      }, TICK_MS);
    },
    async stop() {
      clearInterval(timer);
      await appending;
    },
  };
}

/** The same events, moved so that the last one happens at `time`: no event is reported before it happens. */
function endAt(time: number, events: GatewayEvent[]): GatewayEvent[] {
  const last = Date.parse(events.at(-1)?.time ?? new Date(time).toISOString());
  return events.map((event) => ({ ...event, time: new Date(Date.parse(event.time) - last + time).toISOString() }));
}
