import type { Operations } from './gen/operations.gen.ts';
import { createTransport, type Fetch, requireTimes } from './http.transport.ts';

export interface ManagementApiOptions {
  url: string;
  /** Slug of the workspace, for operations of a workspace. */
  workspace?: string;
  /** Value of the cookie `gw_session`. Browsers send it automatically. */
  session?: string;
  /** For all attempts together; 10 s by default. */
  timeoutMs?: number;
  fetch?: Fetch;
}

type Part<T, Name extends string> = T extends { [K in Name]?: never } ? unknown : Pick<T, Name & keyof T>;
/** The path parameters, query and body of an operation, and a signal to abort it. */
export type ApiInput<O extends keyof Operations> = Part<Operations[O]['data'], 'path'> &
  Part<Operations[O]['data'], 'query'> &
  Part<Operations[O]['data'], 'body'> & { signal?: AbortSignal };
export type ApiAnswer<O extends keyof Operations> = Operations[O]['responses'][keyof Operations[O]['responses']];

export interface ManagementApi {
  /**
   * `call('GET /api/v1/agents/{agent_id}', { path: { agent_id } })`. Only reads are retried. A file is a `Blob` of the
   * type that the operation takes, such as `text/csv`.
   */
  call<O extends keyof Operations>(
    operation: O,
    ...input: Record<string, never> extends ApiInput<O> ? [ApiInput<O>?] : [ApiInput<O>]
  ): Promise<ApiAnswer<O>>;
}

/** The characters of a cookie (RFC 6265 §4.1.1). */
const COOKIE = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]+$/;

type QueryValue = string | number | boolean | undefined;

interface Parts {
  path?: Record<string, string>;
  /** Members of a record are parameters of their own: `label: { 'label.team': 'growth' }`. */
  query?: Record<string, QueryValue | Record<string, QueryValue>>;
  body?: unknown;
  signal?: AbortSignal;
}

/** The management API for people, with a session. */
export function createManagementApi(options: ManagementApiOptions): ManagementApi {
  const { url, workspace, session, timeoutMs = 10_000, fetch } = options;
  if (session !== undefined && !COOKIE.test(session)) {
    throw new TypeError('session must be the value of the cookie gw_session');
  }
  requireTimes({ timeoutMs });
  const headers: Record<string, string> = {
    ...(session !== undefined && { cookie: `gw_session=${session}` }),
    ...(workspace !== undefined && { 'x-workspace': workspace }),
  };
  const send = createTransport({ url, fetch, headers, secret: session });
  return {
    async call<O extends keyof Operations>(operation: O, ...[input]: unknown[]) {
      const [method = '', template = ''] = operation.split(' ');
      const { path = {}, query = {}, body, signal } = (input ?? {}) as Parts;
      const filled = template.replace(/\{(\w+)\}/g, (_, name: string) => toSegment(name, path[name] ?? ''));
      const search = new URLSearchParams();
      const parameters = Object.entries(query).flatMap(([name, value]) =>
        typeof value === 'object' ? Object.entries(value) : [[name, value] as const],
      );
      for (const [name, value] of parameters) if (value !== undefined) search.set(name, String(value));
      const answer = await send({
        method,
        path: search.size === 0 ? filled : `${filled}?${search.toString()}`,
        body: body === undefined || body instanceof Blob ? body : JSON.stringify(body),
        timeoutMs,
        signal,
        repeatable: method === 'GET',
      });
      return answer as ApiAnswer<O>;
    },
  };
}

/** One or two dots would change the path. */
function toSegment(name: string, value: string): string {
  if (/^\.{0,2}$/.test(value)) throw new TypeError(`path.${name} must be given, and be neither . nor ..`);
  return encodeURIComponent(value);
}
