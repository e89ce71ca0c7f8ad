import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useContext } from 'react';
import { type Api, callApi, WorkspaceSlug } from './api.ts';

/** Every agent of the workspace: as many pages of a thousand as there are, up to the 20,000 that a workspace has. */
export function useAllAgents(): UseQueryResult<Api.Agent[], Error> {
  const workspace = useContext(WorkspaceSlug);
  return useQuery({
    queryKey: [workspace, 'GET /api/v1/agents', 'all'],
    queryFn: async ({ signal }) => {
      const agents: Api.Agent[] = [];
      let cursor: string | null = null;
      do {
        const query: { limit: number; cursor?: string } = cursor === null ? { limit: 1_000 } : { limit: 1_000, cursor };
        const page = await callApi(workspace, 'GET /api/v1/agents', { query, signal });
        agents.push(...page.items);
        cursor = page.next_cursor;
      } while (cursor !== null);
      return agents;
    },
  });
}
