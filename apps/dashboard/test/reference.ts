import type { TenantId, TimeSpan } from '@tollkeeper/kernel';
import type { DashboardEvent } from '../src/domain/event.ts';
import type { Tally } from '../src/domain/tally.ts';

/** What a window must show, summed over raw events. */
export interface ReferenceAnswer {
  total: Tally;
  /** The totals of spans within the window. */
  totals(spans: TimeSpan[]): Tally[];
  byAgent: Map<string, Tally>;
  byModel(agentId: string): Map<string | null, Tally>;
  /** All groups, by spend and then by key: the total of each, and its spend in each span within the window. */
  groups(
    keyOf: (data: DashboardEvent['data']) => string | undefined,
    spans: TimeSpan[],
  ): { key: string | null; total: Tally; micros: number[] }[];
  ofLabel(name: string, value: string, spans: TimeSpan[]): Tally[];
  runsStarted: number;
}

/** The slow and obvious truth: keeps every event that counts, in order of arrival, and sums over all of them. */
export function referenceOf(arrivals: DashboardEvent[]): (tenantId: TenantId, span: TimeSpan) => ReferenceAnswer {
  const counted: DashboardEvent[] = [];
  const ids = new Set<string>();
  const settlements = new Set<string>();
  for (const event of arrivals) {
    const id = JSON.stringify([event.tenantId, event.source, event.eventId]);
    const settlement = JSON.stringify([event.tenantId, event.data.settlement_id]);
    const settles = event.type === 'spend.settled';
    if (ids.has(id) || (settles && settlements.has(settlement))) continue;
    ids.add(id);
    if (event.type === 'spend.repriced') {
      const index = counted.findIndex(
        ({ tenantId, type, data }) =>
          tenantId === event.tenantId && type === 'spend.settled' && data.settlement_id === event.data.settlement_id,
      );
      const { to_micros, priced_by } = event.data;
      const settled = counted[index]!;
      counted[index] = { ...settled, data: { ...settled.data, amount_micros: to_micros!, priced_by: priced_by! } };
      continue;
    }
    if (settles) settlements.add(settlement);
    counted.push(event);
  }

  const byTenant = Map.groupBy(counted, (event) => event.tenantId);

  return (tenantId, span) => {
    const ofTenant = byTenant.get(tenantId) ?? [];
    const inside = within(ofTenant, span);
    const byRun = Map.groupBy(ofTenant, (event) => event.data.run_id);
    const firstTimes = [...byRun.values()].map((events) => Math.min(...events.map((event) => event.time)));
    return {
      total: sum(inside),
      totals: (spans) => spans.map((part) => sum(within(inside, part))),
      byAgent: sums(Map.groupBy(inside, (event) => event.data.agent_id!)),
      byModel(agentId) {
        const ofAgent = inside.filter((event) => event.data.agent_id === agentId && event.type === 'spend.settled');
        return sums(Map.groupBy(ofAgent, (event) => event.data.model ?? null));
      },
      groups(keyOf, spans) {
        const settled = inside.filter((event) => event.type === 'spend.settled');
        return [...Map.groupBy(settled, ({ data }) => keyOf(data) ?? null)]
          .map(([key, group]) => {
            const micros = spans.map((part) => sum(within(group, part)).totalMicros);
            return { key, total: sum(group), micros };
          })
          .sort((a, b) => b.total.totalMicros - a.total.totalMicros || ((a.key ?? '') < (b.key ?? '') ? -1 : 1));
      },
      ofLabel(name, value, spans) {
        const having = inside.filter(({ data }) => data.labels?.[name] === value);
        return spans.map((part) => sum(within(having, part)));
      },
      runsStarted: firstTimes.filter((time) => time >= span.start && time < span.end).length,
    };
  };
}

function within(events: DashboardEvent[], span: TimeSpan): DashboardEvent[] {
  return events.filter((event) => event.time >= span.start && event.time < span.end);
}

function sums<K>(groups: Map<K, DashboardEvent[]>): Map<K, Tally> {
  return new Map([...groups].map(([key, group]) => [key, sum(group)]));
}

function sum(events: DashboardEvent[]): Tally {
  const settled = events.filter((event) => event.type === 'spend.settled');
  return {
    totalMicros: settled.reduce((total, event) => total + event.data.amount_micros!, 0),
    settlements: settled.length,
    inputTokens: settled.reduce((total, event) => total + (event.data.input_tokens ?? 0), 0),
    outputTokens: settled.reduce((total, event) => total + (event.data.output_tokens ?? 0), 0),
    budgetBlocked: events
      .filter((event) => event.type === 'budget.blocked')
      .reduce((sum, { data }) => sum + (data.count ?? 1), 0),
    guardBlocked: events.filter((event) => event.type === 'guard.blocked').length,
    lastAt: Math.max(0, ...events.map((event) => event.time)),
    cacheReadTokens: settled.reduce((total, event) => total + (event.data.cache_read_tokens ?? 0), 0),
    cacheWriteTokens: settled.reduce((total, event) => total + (event.data.cache_write_tokens ?? 0), 0),
    cacheWrite1hTokens: settled.reduce((total, event) => total + (event.data.cache_write_1h_tokens ?? 0), 0),
    reasoningTokens: settled.reduce((total, event) => total + (event.data.reasoning_tokens ?? 0), 0),
    unmetered: events.filter((event) => event.type === 'call.unmetered').length,
    unpriced: settled.filter((event) => event.data.priced_by === 'none').length,
  };
}
