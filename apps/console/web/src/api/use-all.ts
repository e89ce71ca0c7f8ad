import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useContext } from 'react';
import { type Api, callApi, type ItemOf, LIVE_MS, type PageOf, type ReadsPages, WorkspaceSlug } from './api.ts';
import { connection } from './session.ts';

/** Every agent of the workspace, up to 20,000. */
export function useAllAgents(): UseQueryResult<Api.Agent[], Error> {
  return useAll('GET /api/v1/agents', 1_000);
}

/** Every budget of the workspace, with the daily ones. */
export function useAllBudgets(): UseQueryResult<Api.Budget[], Error> {
  return useAll('GET /api/v1/budgets', 100);
}

/** All pages of a list. They are refetched while the page is visible, one page every five seconds. */
function useAll<O extends ReadsPages>(operation: O, pageSize: number): UseQueryResult<ItemOf<O>[], Error> {
  const workspace = useContext(WorkspaceSlug);
  return useQuery<ItemOf<O>[], Error>({
    queryKey: [workspace, operation, 'all'],
    queryFn: async ({ signal }) => {
      const items: ItemOf<O>[] = [];
      let cursor: string | null = null;
      do {
        const query: { limit: number; cursor?: string } = { limit: pageSize, ...(cursor !== null && { cursor }) };
        const input = { query, signal } as unknown as Parameters<typeof callApi<O>>[2];
        const page = (await callApi(workspace, operation, input)) as PageOf<ItemOf<O>>;
        items.push(...page.items);
        cursor = page.next_cursor;
      } while (cursor !== null);
      return items;
    },
    refetchInterval: ({ state: { data = [] } }) =>
      connection.current().ended ? false : LIVE_MS * Math.max(1, Math.ceil(data.length / pageSize)),
  });
}
