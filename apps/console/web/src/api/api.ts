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

/** Figures follow within this time while the page is visible. */
export const LIVE_MS = 5_000;

/** Slug of the workspace that the page is about; undefined outside of one. */
export const WorkspaceSlug = createContext<string | undefined>(undefined);

/** A 401 of these is about what was typed, not about the session. */
const PROOFS: readonly (keyof Operations)[] = [
  'POST /api/v1/auth/login',
  'POST /api/v1/auth/oidc/links/{link_id}:prove',
];

/** What an operation is asked. */
type Asked<O extends keyof Operations> = Omit<ApiInput<O>, 'signal'>;

/** Calls one operation of the public API, with the session of the browser. */
export async function callApi<O extends keyof Operations>(
  workspace: string | undefined,
  operation: O,
  input: Asked<O> & { signal?: AbortSignal },
): Promise<ApiAnswer<O>> {
  const api = createManagementApi({ url: location.origin, ...(workspace !== undefined && { workspace }) });
  // The input of an operation is optional where it takes none, which its type cannot say for any operation.
  const call = api.call as (operation: O, input: Asked<O> & { signal?: AbortSignal }) => Promise<ApiAnswer<O>>;
  try {
    const answer = await call(operation, input);
    connection.serverAnswered();
    return answer;
  } catch (error) {
    // An answer, whatever it says, is of a server that is there.
    if (error instanceof TollkeeperUnavailable && error.status === null) connection.serverLost();
    else if (error instanceof TollkeeperError) {
      if (error.status === 401 && !PROOFS.includes(operation)) connection.sessionEnded();
      else connection.serverAnswered();
    }
    throw error;
  }
}

type Reads = Extract<keyof Operations, `GET ${string}`>;
type Changes = Exclude<keyof Operations, `GET ${string}`>;

export interface ReadOptions {
  /** Asked again every few seconds while the page is visible. */
  live?: boolean;
  enabled?: boolean;
}

/**
 * The answer of an operation that reads. While another span or page of the same is asked for, the last answer stays, so
 * that nothing jumps. The client of the API retries automatically.
 */
export function useRead<O extends Reads>(
  operation: O,
  input: Asked<O>,
  { live = false, enabled = true }: ReadOptions = {},
): UseQueryResult<ApiAnswer<O>, Error> {
  const workspace = useContext(WorkspaceSlug);
  const queryKey = [workspace, operation, input];
  return useQuery<ApiAnswer<O>, Error>({
    queryKey,
    queryFn: ({ signal }) => callApi(workspace, operation, { ...input, signal }),
    refetchInterval: live ? () => (connection.current().ended ? false : LIVE_MS) : false,
    placeholderData: (last, query) => (isOfTheSame(queryKey, query?.queryKey) ? last : undefined),
    enabled,
  });
}

/** What says which part of an answer is asked for, and not of what. */
const PARTS = new Set(['range', 'timezone', 'offset', 'cursor']);

/** Whether both ask for the same, in another span or on another page. Else one's figures stood under another's name. */
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

interface PageOf<Item> {
  items: Item[];
  next_cursor: string | null;
}
/** The operations that answer in pages. */
type ReadsPages = { [O in Reads]: ApiAnswer<O> extends PageOf<unknown> ? O : never }[Reads];
type ItemOf<O extends ReadsPages> = ApiAnswer<O> extends PageOf<infer Item> ? Item : never;

export interface Pages<Item, Page> {
  /** Of all pages that were asked for. */
  items: readonly Item[];
  first: Page | undefined;
  /** Asks for the next page; undefined when there are no more. */
  more: (() => unknown) | undefined;
  loadingMore: boolean;
  /** The last answer did not come. Then the next page is not asked for automatically. */
  failed: boolean;
  /** Back to the first page, which is updated automatically again. */
  fold: () => void;
  query: Answer<unknown>;
}

/**
 * A list that is asked for page by page. It is updated automatically while it has one page; of more, none is asked for
 * again, so that nothing moves while people read.
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

/** Changes something, and then asks again for what `changes` names: the operations that would answer differently. */
export function useChange<O extends Changes>(
  operation: O,
  changes: readonly Reads[],
): UseMutationResult<ApiAnswer<O>, Error, ApiInput<O>> {
  const workspace = useContext(WorkspaceSlug);
  const client = useQueryClient();
  return useMutation<ApiAnswer<O>, Error, ApiInput<O>>({
    mutationFn: (input) => callApi(workspace, operation, input),
    onSettled: () =>
      client.invalidateQueries({
        // What is of no workspace too, such as the person's own workspaces.
        predicate: ({ queryKey }) =>
          (queryKey[0] === workspace || queryKey[0] === undefined) && changes.includes(queryKey[1] as Reads),
      }),
  });
}

export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      // The client of the API repeats what may be repeated.
      queries: { retry: false, staleTime: 2_000, networkMode: 'always' },
      mutations: { retry: false, networkMode: 'always' },
    },
  });
}
