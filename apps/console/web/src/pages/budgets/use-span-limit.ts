import { type Answer, type Api, useRead } from '../../api/api.ts';
import { useSelectingBudgets } from '../../api/use-all.ts';
import { useSpan } from '../../app/span.ts';
import { type Unfinished, unfinishedOf } from '../../charts/unfinished.ts';
import { limitOf } from './span-limit.ts';

/** The limit of the spend that a page charts: of the workspace or an agent, over the part of a day or month so far. */
export function useSpanLimit(agentId?: string) {
  const kind = unfinishedOf(useSpan().range);
  // Only a day has budgets of its own, which the limits of one agent include.
  const query = kind === 'day' && agentId !== undefined ? { agent_id: agentId } : {};
  const limits = useRead('GET /api/v1/limits', { query }, { live: true, enabled: kind !== undefined });
  const budgets = useSelectingBudgets(kind === 'month');
  // Without a limit, the chart has only no line.
  const asked: Record<Unfinished, Answer<unknown>[]> = { day: [limits], month: [limits, budgets] };
  return {
    kind,
    /** What a chart waits for, so that it does not change. */
    waits: (kind === undefined ? [] : asked[kind]).map((answer) => ({ ...answer, isError: false })),
    of: (window: Api.Window): Api.Limit | undefined =>
      kind && limitOf({ kind, start: window.start, agentId }, limits.data?.items ?? [], budgets.data ?? []),
  };
}
