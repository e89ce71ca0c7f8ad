import {
  type InfiniteData,
  QueryClient,
  useInfiniteQuery,
  useMutation,
  type UseMutationResult,
  useQuery,
  useQueryClient,
  type UseQueryResult,
} from '@tanstack/react-query';
import { type ApiAnswer, type ApiInput, createManagementApi } from '@tollkeeper/client';
import { type Operations, TollkeeperError, TollkeeperUnavailable } from '@tollkeeper/client';
import { createContext, useContext, useMemo } from 'react';
import { connection } from './session.ts';

export type { Api } from '@tollkeeper/client';
export { TollkeeperError, TollkeeperUnavailable };

/** Refresh interval of figures while the page is visible. */
export const LIVE_MS = 5_000;
/** That of figures of whole days. */
const HOUR_MS = 3_600_000;
/** That of what people wait for. */
const SOON_MS = 2_000;

/** Slug of the page's workspace; undefined outside of one. */
export const WorkspaceSlug = createContext<string | undefined>(undefined);

/** A 401 of these is about the typed password or token, not about the session. */
const PROOFS: readonly (keyof Operations)[] = [
  'POST /api/v1/auth/login',
  'POST /api/v1/auth/oidc/links/{link_id}:prove',
];

/** The input of an operation. */
type Asked<O extends keyof Operations> = Omit<ApiInput<O>, 'signal'>;

/** Calls an operation of the public API with the browser's session. */
export async function callApi<O extends keyof Operations>(
  workspace: string | undefined,
  operation: O,
  input: Asked<O> & { signal?: AbortSignal },
): Promise<ApiAnswer<O>> {
  const api = createManagementApi({ url: location.origin, ...(workspace !== undefined && { workspace }) });
  // The input is optional for operations without one, which the type cannot express for a generic operation.
  const call = api.call as (operation: O, input: Asked<O> & { signal?: AbortSignal }) => Promise<ApiAnswer<O>>;
  try {
    const answer = await call(operation, input);
    connection.serverAnswered();
    return answer;
  } catch (error) {
    // Any answer shows that the server is reachable.
    if (error instanceof TollkeeperUnavailable && error.status === null) connection.serverLost();
    else if (error instanceof TollkeeperError) {
      if (error.status === 401 && !PROOFS.includes(operation)) connection.sessionEnded();
      else connection.serverAnswered();
    }
    throw error;
  }
}

/** Operations that change nothing. */
type Reads = Extract<keyof Operations, `GET ${string}` | 'POST /api/v1/dashboard/budget-preview'>;
type Changes = Exclude<keyof Operations, Reads>;

export interface ReadOptions {
  /** Refetches while the page is visible: every few seconds, every two seconds (`soon`), or every hour. */
  live?: boolean | 'soon' | 'hourly';
  enabled?: boolean;
  /** While another subject loads, the last answer stays. The caller shows that it is old (`isPlaceholderData`). */
  keepsLast?: boolean;
}

/**
 * The answer of a read operation. While another span or page of the same thing loads, the last answer stays, so that
 * nothing jumps. The API client retries automatically.
 */
export function useRead<O extends Reads>(
  operation: O,
  input: Asked<O>,
  { live = false, enabled = true, keepsLast = false }: ReadOptions = {},
): UseQueryResult<ApiAnswer<O>, Error> {
  const workspace = useContext(WorkspaceSlug);
  const queryKey = [workspace, operation, input];
  const everyMs = live === 'hourly' ? HOUR_MS : live === 'soon' ? SOON_MS : LIVE_MS;
  return useQuery<ApiAnswer<O>, Error>({
    queryKey,
    queryFn: ({ signal }) => callApi(workspace, operation, { ...input, signal }),
    refetchInterval: live !== false && (() => (connection.current().ended ? false : everyMs)),
    placeholderData: (last, query) => (keepsLast || isOfTheSame(queryKey, query?.queryKey) ? last : undefined),
    enabled,
  });
}

/** Inputs that select a part of an answer, and not another subject. */
const PARTS = new Set(['range', 'from', 'to', 'timezone', 'offset', 'cursor']);

/** Whether both keys have the same subject, apart from span and page. Else figures would appear under another name. */
function isOfTheSame(key: readonly unknown[], other: readonly unknown[] | undefined): boolean {
  const whole = (name: string, value: unknown) => (PARTS.has(name) ? undefined : value);
  return JSON.stringify(key, whole) === JSON.stringify(other, whole);
}

/** The state of an answer: in progress, here, or failed. */
export interface Answer<T> {
  data: T | undefined;
  error: Error | null;
  isError: boolean;
  isPending: boolean;
  refetch: () => Promise<unknown>;
}

export interface PageOf<Item> {
  items: Item[];
  next_cursor: string | null;
}
/** The operations with paginated answers. */
export type ReadsPages = { [O in Reads]: ApiAnswer<O> extends PageOf<unknown> ? O : never }[Reads];
export type ItemOf<O extends ReadsPages> = ApiAnswer<O> extends PageOf<infer Item> ? Item : never;

export interface Pages<Item, Page> {
  /** Items of all loaded pages. */
  items: readonly Item[];
  first: Page | undefined;
  /** Loads the next page; undefined if there are no more. */
  more: (() => unknown) | undefined;
  loadingMore: boolean;
  /** The last request failed, so the next page is not loaded automatically. */
  failed: boolean;
  /** Returns to the first page, which updates automatically again. */
  fold: () => void;
  query: Answer<unknown>;
}

/**
 * A paginated list. It updates automatically while it shows one page. With more pages nothing is refetched, so that
 * nothing moves while people read.
 */
export function usePages<O extends ReadsPages>(
  operation: O,
  input: Asked<O> & { query: object },
  { enabled = true }: { enabled?: boolean } = {},
): Pages<ItemOf<O>, ApiAnswer<O>> {
  const workspace = useContext(WorkspaceSlug);
  const client = useQueryClient();
  const queryKey = [workspace, operation, 'pages', input];
  const query = useInfiniteQuery<PageOf<ItemOf<O>>, Error>({
    queryKey,
    queryFn: ({ signal, pageParam }) => {
      const asked = { ...input, query: { ...input.query, ...(pageParam !== null && { cursor: pageParam }) }, signal };
      return callApi(workspace, operation, asked) as Promise<PageOf<ItemOf<O>>>;
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    refetchInterval: (each) => (!connection.current().ended && hasOnePage(each) ? LIVE_MS : false),
    refetchOnMount: hasOnePage,
    refetchOnReconnect: hasOnePage,
    refetchOnWindowFocus: hasOnePage,
    placeholderData: (last, each) => (isOfTheSame(queryKey, each?.queryKey) ? last : undefined),
    enabled,
  });
  const items = useMemo(() => query.data?.pages.flatMap((page) => page.items) ?? [], [query.data]);
  return {
    items,
    first: query.data?.pages[0] as ApiAnswer<O> | undefined,
    more: query.hasNextPage ? query.fetchNextPage : undefined,
    loadingMore: query.isFetchingNextPage,
    failed: query.isError,
    fold: () =>
      client.setQueryData<Paged>(queryKey, (data) =>
        // Undefined changes nothing.
        data && data.pages.length > 1
          ? { pages: data.pages.slice(0, 1), pageParams: data.pageParams.slice(0, 1) }
          : undefined,
      ),
    query,
  };
}

type Paged = InfiniteData<unknown>;

function hasOnePage({ state: { data } }: { state: { data: Paged | undefined } }): boolean {
  return data === undefined || data.pages.length <= 1;
}

/** Makes a change, and then refetches what `changes` names: the operations whose answers it affects. */
export function useChange<O extends Changes>(
  operation: O,
  changes: readonly Reads[],
): UseMutationResult<ApiAnswer<O>, Error, ApiInput<O>> {
  const workspace = useContext(WorkspaceSlug);
  const refetch = useRefetch();
  return useMutation<ApiAnswer<O>, Error, ApiInput<O>>({
    mutationFn: (input) => callApi(workspace, operation, input),
    onSettled: () => refetch(changes),
  });
}

/** Refetches the answers of these operations that pages have. */
export function useRefetch(): (operations: readonly Reads[]) => Promise<void> {
  const workspace = useContext(WorkspaceSlug);
  const client = useQueryClient();
  return (operations) =>
    client.invalidateQueries({
      // Also data outside of workspaces, such as the person's own workspaces.
      predicate: ({ queryKey }) =>
        (queryKey[0] === workspace || queryKey[0] === undefined) && operations.includes(queryKey[1] as Reads),
    });
}

export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      // The API client retries where that is safe.
      queries: { retry: false, staleTime: 2_000, networkMode: 'always' },
      mutations: { retry: false, networkMode: 'always' },
    },
  });
}
