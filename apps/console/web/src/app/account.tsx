import { queryOptions, useSuspenseQuery } from '@tanstack/react-query';
import { createContext, useContext } from 'react';
import { type Api, callApi } from '../api/api.ts';

/** The workspace of the page, and the person's role in it. */
export type Workspace = Api.Workspace;
export type Role = Workspace['role'];

const RANK: Record<Role, number> = { member: 0, admin: 1, owner: 2 };

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

/** Whether `role` is at least `needed`. */
export function mayWith(role: Role, needed: Role): boolean {
  return RANK[role] >= RANK[needed];
}

/** Whether the person's role in this workspace is at least `role`. */
export function useMay(role: Role): boolean {
  return mayWith(useWorkspace().role, role);
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
