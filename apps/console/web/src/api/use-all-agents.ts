import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useContext } from 'react';
import { type Api, callApi, LIVE_MS, WorkspaceSlug } from './api.ts';
import { connection } from './session.ts';

const PAGE = 1_000;

/**
 * Every agent of the workspace: all pages, up to the 20,000 agents of a workspace. They are refetched while the page is
 * visible, one page every five seconds.
 */
export function useAllAgents(): UseQueryResult<Api.Agent[], Error> {
  const workspace = useContext(WorkspaceSlug);
  return useQuery<Api.Agent[], Error>({
    queryKey: [workspace, 'GET /api/v1/agents', 'all'],
    queryFn: async ({ signal }) => {
      const agents: Api.Agent[] = [];
      let cursor: string | null = null;
      do {
        const query: { limit: number; cursor?: string } = cursor === null ? { limit: PAGE } : { limit: PAGE, cursor };
        const page = await callApi(workspace, 'GET /api/v1/agents', { query, signal });
        agents.push(...page.items);
        cursor = page.next_cursor;
      } while (cursor !== null);
      return agents;
    },
    refetchInterval: ({ state: { data = [] } }) =>
      connection.current().ended ? false : LIVE_MS * Math.max(1, Math.ceil(data.length / PAGE)),
  });
}
