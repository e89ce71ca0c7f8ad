import { hash } from 'node:crypto';
import type { GatewayEvent } from '@tollkeeper/contracts';

export interface GeneratedTraffic {
  count: number;
  /** Epoch milliseconds; the events are evenly distributed over `[start, end)`. */
  start: number;
  end: number;
  /** Random ids like UUIDs of version 4, instead of sequences. */
  randomIds?: boolean;
  /** Number of agents, by default 50, with runs in turn. */
  agents?: number;
  /** How many of {@link LABELS} the events have; none by default. */
  labels?: number;
  /** Who says what the settlements cost; their sender by default. */
  pricedBy?: 'override';
}

/** Labels by name, with their numbers of values. */
export const LABELS = { team: 10, env: 3, user: 1_000, feature: 50, customer: 200 };
const DEFAULT_AGENTS = 50;
const CALLS_PER_RUN = 10;
export const MODELS = ['small', 'medium', 'large', 'frontier'];

/**
 * Event number `index` of the traffic: of a hundred, 97 settle spend and three are blocked. The same number always
 * gives the same event, and the ten events of a run are consecutive.
 */
export function generateEvent(traffic: GeneratedTraffic, index: number): GatewayEvent {
  const { count, start, end, randomIds, agents = DEFAULT_AGENTS, labels = 0, pricedBy } = traffic;
  const run = Math.floor(index / CALLS_PER_RUN);
  const agent = run % agents;
  const idOf = (name: string): string => (randomIds ? randomId(name) : name);
  const ids = {
    ...{ run_id: idOf(`run-${run}`), agent_id: `agent-${agent}` },
    ...(labels > 0 && { labels: labelsOf(index, labels) }),
  };
  const base = {
    specversion: '1.0',
    id: idOf(`evt-${index}`),
    source: '/gateways/bench',
    time: new Date(start + Math.floor(((end - start) * index) / count)).toISOString(),
  } as const;
  const kind = index % 100;
  if (kind === 33 || kind === 66) {
    const data = {
      ...ids,
      scope: 'workspace',
      requested_micros: 900,
      spent_micros: 999_500,
      daily_budget_usd_micros: 1_000_000,
    } as const;
    return { ...base, type: 'budget.blocked', data };
  }
  if (kind === 99) return { ...base, type: 'guard.blocked', data: { ...ids, guard: 'pii', reason: 'a card number' } };
  return {
    ...base,
    type: 'spend.settled',
    data: {
      ...ids,
      settlement_id: idOf(`stl-${index}`),
      amount_micros: 1_000 + ((index * 7_919) % 90_000),
      model: MODELS[agent % MODELS.length] ?? 'small',
      provider: 'bench',
      ...(pricedBy && { priced_by: pricedBy, price_id: 'price_0' }),
      input_tokens: (index * 31) % 8_000,
      output_tokens: (index * 17) % 900,
    },
  };
}

function labelsOf(index: number, count: number): Record<string, string> {
  const named = Object.entries(LABELS).slice(0, count);
  return Object.fromEntries(named.map(([name, values]) => [name, `${name}-${(index * 7_919) % values}`]));
}

/** Deterministic by name. */
function randomId(name: string): string {
  return hash('sha256', name).replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-4$3-a$4-$5');
}

/** The whole traffic in order, in batches of `size`. */
export function* generateBatches(traffic: GeneratedTraffic, size: number): Generator<GatewayEvent[]> {
  for (let first = 0; first < traffic.count; first += size) {
    const length = Math.min(size, traffic.count - first);
    yield Array.from({ length }, (_, index) => generateEvent(traffic, first + index));
  }
}
