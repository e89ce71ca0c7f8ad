import { TollkeeperError, TollkeeperUnavailable, unavailable } from './tollkeeper.error.ts';
import { within } from './within.ts';

export type Fetch = typeof globalThis.fetch;

export interface TransportOptions {
  url: string;
  fetch?: Fetch | undefined;
  /** Sent with each request. */
  headers: Record<string, string>;
  /** Part of `headers`; never shown in an error. */
  secret: string | undefined;
}

interface TransportRequest {
  method: string;
  /** Path on the Tollkeeper server, such as `/api/v1/events`. */
  path: string;
  /** A blob has its own content type. */
  body?: string | Blob | undefined;
  contentType?: string;
  /** For all attempts together. */
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  /** True only for requests that count once, however often they are sent. */
  repeatable: boolean;
  /** Retries also when Tollkeeper answers 429, for requests that must not be lost. */
  patient?: boolean;
}

/** The JSON of a 2xx answer, or undefined. Rejects with {@link TollkeeperError}, or the signal's reason. */
export type Send = (request: TransportRequest) => Promise<unknown>;

/** No answer of Tollkeeper is larger. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
const MAX_ATTEMPT_MS = 10_000;
const FIRST_DELAY_MS = 50;
const MAX_DELAY_MS = 5_000;
/** Longest delay of a timer. Longer ones fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export function createTransport(options: TransportOptions): Send {
  const base = parseBase(options.url);
  const { secret, fetch = globalThis.fetch.bind(globalThis) } = options;
  const redact = (text: string) => (secret === undefined ? text : text.replaceAll(secret, '[secret]'));

  /** Throws {@link TollkeeperUnavailable} for failures that may pass. */
  async function attempt(request: TransportRequest, timeoutMs: number): Promise<unknown> {
    const { method, path, body, contentType = 'application/json', signal } = request;
    const late = () => unavailable('timeout', `Tollkeeper did not answer ${method} ${path} in time.`);
    try {
      return await within({ timeoutMs, signal }, late, async (stop) => {
        const headers = { accept: 'application/json', ...options.headers };
        const response = await fetch(`${base}${path}`, {
          ...{ method, body: body ?? null, redirect: 'manual', signal: stop, cache: 'no-store' },
          headers: typeof body === 'string' ? { ...headers, 'content-type': contentType } : headers,
        });
        return understand(response, await readText(response), redact);
      });
    } catch (error) {
      if (error instanceof TollkeeperError) throw error;
      signal?.throwIfAborted();
      throw unavailable('connection_failed', `${method} ${path} could not reach Tollkeeper${systemCode(error)}.`);
    }
  }

  return async function send(request) {
    const { timeoutMs, signal, repeatable, patient = false } = request;
    const deadline = performance.now() + timeoutMs;
    // Tollkeeper answers within a second. So the 1.5 s of a call leave time for a retry if a connection hangs.
    const limitMs = Math.min(MAX_ATTEMPT_MS, repeatable ? (timeoutMs * 2) / 3 : timeoutMs);
    let before: TollkeeperError | undefined;
    for (let attempts = 0; ; attempts += 1) {
      signal?.throwIfAborted();
      const leftMs = deadline - performance.now();
      try {
        return await attempt(request, Math.max(0, Math.min(limitMs, leftMs)));
      } catch (error) {
        if (!repeatable || !(error instanceof TollkeeperError) || !mayPass(error, patient)) throw error;
        // An attempt cut short by the deadline is less informative than the one before.
        if (error.code === 'timeout' && leftMs < limitMs && before !== undefined) throw before;
        const delayMs = Math.max(error.retryAfterMs ?? 0, jitter(attempts));
        if (performance.now() + delayMs >= deadline) throw error;
        before = error;
        signal?.throwIfAborted();
        await pause(delayMs, signal);
      }
    }
  };
}

/** Throws for an option that is not a valid time. */
export function requireTimes(options: Record<string, number>): void {
  const wrong = Object.keys(options).find((name) => !(options[name]! >= 0 && options[name]! <= MAX_TIMER_MS));
  if (wrong !== undefined) throw new TypeError(`${wrong} must be 0 to ${MAX_TIMER_MS} milliseconds`);
}

/** Whether the same call may succeed later. */
export function mayPass(error: TollkeeperError, patient: boolean): boolean {
  return error instanceof TollkeeperUnavailable || (patient && error.status === 429);
}

/** Throws without showing the address, which may contain a password. */
function parseBase(text: string): string {
  if (!URL.canParse(text)) {
    throw new TypeError('url must be an http:// or https:// address, such as https://tollkeeper.example.com');
  }
  const { protocol, username, password, search, hash, origin, pathname } = new URL(text);
  if (!/^https?:$/.test(protocol) || `${username}${password}${search}${hash}` !== '') {
    throw new TypeError('url must be an http:// or https:// address without user, password, query and fragment');
  }
  return `${origin}${pathname.replace(/\/+$/, '')}`;
}

/** Null if the answer is larger than any of Tollkeeper's. */
async function readText(response: Response): Promise<string | null> {
  const reader = response.body?.getReader();
  if (reader === undefined) return '';
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.byteLength;
    if (bytes > MAX_ANSWER_BYTES) {
      void reader.cancel().catch(() => undefined);
      return null;
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** The answer, if it has the field. An intermediary may answer 2xx instead of Tollkeeper. */
export function withField<T>(answer: unknown, field: keyof T & string): T {
  if (typeof answer === 'object' && answer !== null && field in answer) return answer as T;
  const message = `The response has no ${field}, so it is not from Tollkeeper. Check the url.`;
  throw new TollkeeperError(message, { code: 'invalid_answer' });
}

function understand(response: Response, text: string | null, redact: (text: string) => string): unknown {
  const { status, ok, headers } = response;
  const body = text === null ? null : parseJson(ok ? text : redact(text));
  if (ok && body !== null) return body;
  const { error, code, request_id, details } = (body ?? {}) as Record<string, unknown>;
  const header = headers.get('x-request-id');
  const common = {
    status,
    requestId: typeof request_id === 'string' ? request_id : header && redact(header),
    retryAfterMs: retryAfterMs(headers.get('retry-after') ?? ''),
    details: Array.isArray(details) ? (details as { path: string; message: string }[]) : [],
  };
  const message = typeof error === 'string' ? error : `Tollkeeper answered ${status}.`;
  // After 408, the edge or a proxy has not read the whole request.
  if (status >= 500 || status === 408) {
    throw new TollkeeperUnavailable(message, { code: typeof code === 'string' ? code : 'unavailable', ...common });
  }
  if (!ok && typeof code === 'string') throw new TollkeeperError(message, { code, ...common });
  const strange =
    text === null
      ? `The answer ${status} has more than 4 MiB, which is not read. Ask for less, with a filter or a page.`
      : `The answer ${status} is not Tollkeeper's. Check the url: it must be the address of Tollkeeper itself.`;
  throw new TollkeeperError(strange, { code: 'invalid_answer', ...common });
}

/** Undefined for an empty text, null if it is not a JSON object. */
function parseJson(text: string): object | null | undefined {
  if (text === '') return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}

/** Seconds or an HTTP date (RFC 9110 §10.2.3). */
function retryAfterMs(text: string): number | null {
  if (/^\d{1,6}$/.test(text)) return Number(text) * 1_000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : Math.max(0, date - Date.now());
}

/** The system's code of the failure, such as ` (ECONNREFUSED)`. Nothing else of the failure is shown. */
function systemCode(error: unknown): string {
  const { code = '', cause } = (error ?? {}) as { code?: unknown; cause?: { code?: unknown } };
  const name = String(cause?.code ?? code);
  return /^[A-Z][A-Z_]{1,40}$/.test(name) ? ` (${name})` : '';
}

/** A random half to all of a delay that doubles with each attempt. */
function jitter(attempts: number): number {
  const [random = 0] = crypto.getRandomValues(new Uint32Array(1));
  return Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** attempts) * (0.5 + random / 2 ** 33);
}

/** Rejects with the signal's reason. */
export function pause(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, delayMs);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
