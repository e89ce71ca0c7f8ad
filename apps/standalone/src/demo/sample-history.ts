import type { GatewayEvent } from '@tollkeeper/contracts';
import { createRandom, type Random } from './random.ts';
import { SAMPLE_AGENTS, type SampleAgent } from './sample-agents.ts';
import { sampleRun } from './sample-run.ts';

const HOUR_MS = 3_600_000;
const DAY_HOURS = 24;
const HISTORY_DAYS = 31;
const SEED = 20_261_123;

/** Share of the peak in each hour of a working day, UTC. */
const WORKING_DAY = [
  0.05, 0.04, 0.03, 0.03, 0.04, 0.08, 0.2, 0.45, 0.8, 1, 1, 0.95, 0.7, 0.85, 1, 0.95, 0.85, 0.6, 0.35, 0.2, 0.15, 0.1,
  0.08, 0.06,
];
const WEEKEND_SHARE = 0.15;
const NIGHT_SHARE = 0.45;

/**
 * A month of sample traffic that ends at `until` (epoch milliseconds), hour by hour. The same `until` gives the same
 * events with the same ids, so writing it again after a crash counts nothing twice.
 */
export function* sampleHistory(until: number): Generator<GatewayEvent[]> {
  const random = createRandom(SEED);
  const spent = new Map<string, number>();
  const firstHour = Math.floor(until / HOUR_MS) - HISTORY_DAYS * DAY_HOURS;
  for (let hour = firstHour; hour * HOUR_MS < until; hour += 1) {
    if (hour % DAY_HOURS === 0) spent.clear();
    const events = SAMPLE_AGENTS.flatMap((agent) => sampleHour(random, agent, hour, spent));
    // The enforcer counts this spend too, and reports the thresholds of the running day.
    const isToday = Math.floor(hour / DAY_HOURS) === Math.floor(until / HOUR_MS / DAY_HOURS);
    yield events.filter(
      ({ time, type }) => Date.parse(time) <= until && !(isToday && type === 'budget.threshold_reached'),
    );
  }
}

/** The activity of an agent at a time, as a share of its peak. */
export function activityAt(agent: SampleAgent, time: number): number {
  const date = new Date(time);
  const weekend = date.getUTCDay() === 0 || date.getUTCDay() === 6;
  const share = (WORKING_DAY[date.getUTCHours()] ?? 0) * (weekend ? WEEKEND_SHARE : 1);
  return agent.aroundTheClock ? Math.max(share, NIGHT_SHARE) : share;
}

function sampleHour(random: Random, agent: SampleAgent, hour: number, spent: Map<string, number>): GatewayEvent[] {
  const runs = random.poisson(agent.peakRunsPerHour * activityAt(agent, hour * HOUR_MS));
  const starts = Array.from({ length: runs }, () => hour * HOUR_MS + random.integer(0, HOUR_MS - 1));
  const events: GatewayEvent[] = [];
  // Oldest first, so that earlier runs use up the budget, not later ones.
  for (const [run, startedAt] of starts.sort((a, b) => a - b).entries()) {
    const spentMicros = spent.get(agent.agentId) ?? 0;
    const runId = `sample.${agent.agentId}.${hour}.${run}`;
    const outcome = sampleRun({ random, agent, runId, startedAt, spentMicros });
    spent.set(agent.agentId, spentMicros + outcome.costMicros);
    events.push(...outcome.events);
  }
  return events;
}
