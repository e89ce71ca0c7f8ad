import { type Answer, type Api, useRead } from '../../api/api.ts';
import { useSelectingBudgets } from '../../api/use-all.ts';
import { useSpan } from '../../app/span.ts';
import { unfinishedOf } from '../../charts/unfinished.ts';
import { limitOf } from './span-limit.ts';

/** The limit of the spend that a page charts: of the workspace or an agent, over the part of a day or month so far. */
export function useSpanLimit(agentId?: string) {
  const kind = unfinishedOf(useSpan().range);
  const query = agentId === undefined ? {} : { agent_id: agentId };
  const limits = useRead('GET /api/v1/limits', { query }, { live: true, enabled: kind !== undefined });
  const budgets = useSelectingBudgets(kind !== undefined);
  const asked: Answer<unknown>[] = kind === undefined ? [] : [limits, budgets];
  return {
    kind,
    /** What a chart waits for, so that it does not change. Without a limit, it only has no line. */
    waits: asked.map((answer) => ({ ...answer, isError: false })),
    of: (window: Api.Window): Api.Limit | undefined =>
      kind && limitOf({ kind, start: window.start, agentId }, limits.data?.items ?? [], budgets.data ?? []),
  };
}
