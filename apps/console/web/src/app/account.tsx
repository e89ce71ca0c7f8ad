import { queryOptions, useSuspenseQuery } from '@tanstack/react-query';
import { may } from '@tollkeeper/kernel/roles';
import { createContext, useContext } from 'react';
import { type Api, callApi } from '../api/api.ts';

/** The workspace of the page, and the person's role in it. */
export type Workspace = Api.Workspace;
export type Role = Workspace['role'];

const CurrentWorkspace = createContext<Workspace | null>(null);
export const WorkspaceProvider = CurrentWorkspace.Provider;

/** For use inside the pages of a workspace. */
export function useWorkspace(): Workspace {
  const workspace = useContext(CurrentWorkspace);
  if (workspace === null) throw new Error('useWorkspace is for the pages of a workspace');
  return workspace;
}

/** The labels that the workspace tracks. Identity services of earlier releases do not know them. */
export function useTrackedLabels(): readonly string[] {
  return (useWorkspace() as Partial<Workspace>).tracked_labels ?? [];
}

/** Whether the person may change what the API lets `role` change in this workspace. */
export function useMay(role: Role): boolean {
  return may(useWorkspace().role, 'change', role);
}

/** Whether the person may read what the API lets `role` read in this workspace. */
export function useMayRead(role: Role): boolean {
  return may(useWorkspace().role, 'read', role);
}

/** The person and their workspaces; loaded before any page is shown. */
export const accountQuery = queryOptions<Api.Account, Error>({
  queryKey: [undefined, 'GET /api/v1/auth/me', {}],
  queryFn: ({ signal }) => callApi(undefined, 'GET /api/v1/auth/me', { signal }),
  staleTime: 30_000,
});

export function useAccount(): Api.Account {
  return useSuspenseQuery(accountQuery).data;
}
