import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useContext } from 'react';
import { type Api, callApi, type ItemOf, LIVE_MS, type PageOf, WorkspaceSlug } from './api.ts';
import { connection } from './session.ts';

/** The lists that are loaded with all their pages. */
type Listed = 'GET /api/v1/agents' | 'GET /api/v1/budgets';

interface Whole<O extends Listed> {
  operation: O;
  pageSize: number;
  page: (query: { limit: number; cursor?: string }, signal: AbortSignal) => Promise<PageOf<ItemOf<O>>>;
  /** Part of the key of a list that is filtered. */
  filter?: string;
  enabled?: boolean;
}

/** Every agent of the workspace, up to 20,000. */
export function useAllAgents(): UseQueryResult<Api.Agent[], Error> {
  const workspace = useContext(WorkspaceSlug);
  const operation = 'GET /api/v1/agents';
  return useAll({
    ...{ operation, pageSize: 1_000 },
    page: (query, signal) => callApi(workspace, operation, { query, signal }),
  });
}

/** Every budget of the workspace, with the daily ones. */
export function useAllBudgets(): UseQueryResult<Api.Budget[], Error> {
  const workspace = useContext(WorkspaceSlug);
  const operation = 'GET /api/v1/budgets';
  return useAll({
    ...{ operation, pageSize: 100 },
    page: (query, signal) => callApi(workspace, operation, { query, signal }),
  });
}

/** Every active budget that has a selector and a period of its own. */
export function useSelectingBudgets(enabled: boolean): UseQueryResult<Api.Budget[], Error> {
  const workspace = useContext(WorkspaceSlug);
  const operation = 'GET /api/v1/budgets';
  return useAll({
    ...{ operation, pageSize: 100, filter: 'active', enabled },
    page: (query, signal) =>
      callApi(workspace, operation, { query: { ...query, origin: 'none', is_active: true }, signal }),
  });
}

/** All pages of a list. They are refetched while the page is visible, one page every five seconds. */
function useAll<O extends Listed>({
  operation,
  pageSize,
  page,
  filter = '',
  enabled = true,
}: Whole<O>): UseQueryResult<ItemOf<O>[], Error> {
  const workspace = useContext(WorkspaceSlug);
  return useQuery<ItemOf<O>[], Error>({
    queryKey: [workspace, operation, 'all', filter],
    queryFn: async ({ signal }) => {
      const items: ItemOf<O>[] = [];
      let cursor: string | null = null;
      do {
        const query = { limit: pageSize, ...(cursor !== null && { cursor }) };
        const answer: PageOf<ItemOf<O>> = await page(query, signal);
        items.push(...answer.items);
        cursor = answer.next_cursor;
      } while (cursor !== null);
      return items;
    },
    refetchInterval: ({ state: { data = [] } }) =>
      connection.current().ended ? false : LIVE_MS * Math.max(1, Math.ceil(data.length / pageSize)),
    enabled,
  });
}
