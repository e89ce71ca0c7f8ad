import { request as httpRequest, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http';
import { type OpenApiDocument, expectMatchesOpenApi } from '@tollkeeper/testing';
import { rememberSecret } from './secrets.ts';
import type { Target } from './target.ts';

export interface ApiRequest {
  method?: string;
  /** Sent as it is, neither encoded nor normalized, so that malformed paths stay malformed. */
  path: string;
  /** Sent as JSON; a string is sent as it is. */
  body?: unknown;
  headers?: OutgoingHttpHeaders;
}

export interface ApiAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  /** The parsed JSON, or undefined without a body. */
  body: unknown;
}

export interface ApiClient {
  /** Calls the API as this client's user and checks the answer against the published OpenAPI document. */
  call(request: ApiRequest): Promise<ApiAnswer>;
  /** The body of a call that must be answered with `status`, by default 200. */
  expect<T>(request: ApiRequest & { status?: number }): Promise<T>;
  /** The session cookie, `gw_session=…`, or null for a client without a session. */
  readonly cookie: string | null;
}

const documents = new Map<string, Promise<OpenApiDocument>>();

/** A client without a session. */
export function anonymous(target: Target): ApiClient {
  return createClient(target, null);
}

/** A client with a session of its own. */
export async function logIn(target: Target, user: { email: string; password: string }): Promise<ApiClient> {
  const path = '/api/v1/auth/login';
  const { status, headers, text } = await anonymous(target).call({ method: 'POST', path, body: user });
  const cookie = headers['set-cookie']?.[0]?.split(';')[0];
  if (status !== 200 || cookie === undefined) throw new Error(`login as ${user.email}: ${status} ${text}`);
  rememberSecret(user.password);
  rememberSecret(cookie.replace('gw_session=', ''));
  return createClient(target, cookie);
}

export function createClient(target: Target, cookie: string | null): ApiClient {
  async function call(request: ApiRequest): Promise<ApiAnswer> {
    const answer = await send(target.baseUrl, request, cookie);
    await checkAnswer(target, request, answer);
    return answer;
  }
  return {
    call,
    cookie,
    async expect<T>({ status = 200, ...request }: ApiRequest & { status?: number }) {
      const answer = await call(request);
      if (answer.status !== status) {
        throw new Error(
          `${request.method ?? 'GET'} ${request.path}: expected ${status}, got ${answer.status} ${answer.text}`,
        );
      }
      return answer.body as T;
    },
  };
}

function send(baseUrl: string, { method = 'GET', path, body, headers }: ApiRequest, cookie: string | null) {
  const payload = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  const { hostname, port } = new URL(baseUrl);
  return new Promise<ApiAnswer>((resolve, reject) => {
    const outgoing = httpRequest(
      {
        ...{ hostname, port, path, method },
        headers: {
          ...(payload !== undefined && { 'content-type': 'application/json' }),
          ...(payload !== undefined && { 'content-length': Buffer.byteLength(payload) }),
          ...(cookie !== null && { cookie }),
          ...headers,
        },
      },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('error', reject);
        incoming.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          const json = isJson(incoming.headers) && text !== '';
          const { statusCode = 0, headers: received } = incoming;
          resolve({
            status: statusCode,
            headers: received,
            text,
            body: json ? (JSON.parse(text) as unknown) : undefined,
          });
        });
      },
    );
    // An early refusal may close the connection while the body is still being written.
    outgoing.on('error', (error) => setImmediate(() => reject(error)));
    outgoing.end(payload);
  });
}

function isJson(headers: IncomingHttpHeaders): boolean {
  return /^application\/json\b/.test(headers['content-type'] ?? '');
}

/** Checks the guarantees of every answer. */
async function checkAnswer(target: Target, request: ApiRequest, answer: ApiAnswer): Promise<void> {
  const { method = 'GET', path } = request;
  if (!path.includes('/api/')) return;
  const where = `${method} ${path} → ${answer.status}`;
  if (!/^[\w.:-]{1,128}$/.test(String(answer.headers['x-request-id']))) throw new Error(`${where}: no X-Request-Id`);
  if (answer.status >= 400 && answer.status !== 410) checkErrorBody(where, answer);
  const document = await openApiOf(target);
  // The document describes a single line of a stream.
  if (isDescribed(document, method, path) && (isJson(answer.headers) || answer.text === '')) {
    expectMatchesOpenApi(document, { method, path, status: answer.status, body: answer.body });
  }
}

/** Unknown paths and methods are in no document, so the common error body is checked here. */
function checkErrorBody(where: string, { body, headers }: ApiAnswer): void {
  const { error, code, request_id, details, ...rest } = (body ?? {}) as Record<string, unknown>;
  const wellFormed =
    typeof error === 'string' &&
    /^[a-z]+(_[a-z]+)*$/.test(String(code)) &&
    request_id === headers['x-request-id'] &&
    (details === undefined || Array.isArray(details)) &&
    Object.keys(rest).length === 0;
  if (!wellFormed) throw new Error(`${where}: not the error body: ${JSON.stringify(body)}`);
}

/** The published document, read once for each target. */
export function openApiOf(target: Target): Promise<OpenApiDocument> {
  const known = documents.get(target.baseUrl);
  if (known) return known;
  const fetched = send(target.baseUrl, { path: '/openapi.json' }, null).then(({ body }) => body as OpenApiDocument);
  documents.set(target.baseUrl, fetched);
  return fetched;
}

function isDescribed(document: OpenApiDocument, method: string, path: string): boolean {
  const plain = path.replace(/\?.*$/, '').replace(/^\/w\/[^/]+(?=\/)/, '');
  return Object.entries(document.paths ?? {}).some(([template, item]) => {
    const pattern = new RegExp(`^${template.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{[^}]*\}/g, '[^/]+?')}$`);
    return method.toLowerCase() in item && pattern.test(plain);
  });
}
