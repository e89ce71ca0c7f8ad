import { randomUUID } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';

/** The people and gateways that work, and where. */
export interface Others {
  baseUrl: string;
  credentials: { email: string; password: string };
  /** Slug of the workspace whose spend they read. */
  slug: string;
  /** Path of the rule that they change. */
  rule: string;
  /** Key for their reservations. */
  apiKey: string;
  cookie: string;
}

/** The experience of people and gateways in other workspaces. */
export interface Experience {
  calls: number;
  /** Calls with wrong answers, and these answers. */
  failures: string[];
  slowestMs: number;
  /** Number of reservations among the calls, and how many of these got 503. */
  reservations: number;
  refused: number;
  /** 95th percentile of the times of reservations. */
  reservationP95Ms: number;
}

export type Orders = 'begin' | 'recover' | 'stop';

const CALLS_PER_SECOND = 4;
const LOGINS_PER_SECOND = 0.5;
const CHANGES_PER_SECOND = 1;
const RESERVATIONS_PER_SECOND = 4;
/** After this many reservations in a row below {@link USUAL_MS}, the service is as before an attack. */
const USUAL_IN_A_ROW = 10;
const USUAL_MS = 500;

const { baseUrl, credentials, slug, rule, apiKey, cookie } = workerData as Others;
const failures: string[] = [];
const tookMs: number[] = [];
const reservationsMs: number[] = [];
let refused = 0;
const begun = new Set<Promise<unknown>>();
let next = 0;

interface Answer {
  elapsedMs: number;
  status: number | string;
  failure: string | null;
}

async function call(method: string, path: string, headers: Record<string, string>, body?: object): Promise<Answer> {
  const start = performance.now();
  const answer = await fetch(`${baseUrl}${path}`, {
    method,
    headers: { 'content-type': 'application/json', origin: baseUrl, ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(60_000),
  }).catch((error: unknown) => ({ ok: false, status: 'none', text: () => Promise.resolve(String(error)) }));
  const text = await answer.text();
  const elapsedMs = performance.now() - start;
  tookMs.push(elapsedMs);
  return {
    elapsedMs,
    status: answer.status,
    failure: answer.ok ? null : `${method} ${path}: ${answer.status} ${text}`,
  };
}

async function expectOk(asked: Promise<Answer>): Promise<void> {
  const { failure } = await asked;
  if (failure !== null) failures.push(failure);
}

const reads = ['/api/v1/auth/me', '/api/v1/workspaces', `/w/${slug}/api/v1/dashboard/spend?range=today`];
const read = () => expectOk(call('GET', reads[next++ % reads.length]!, { cookie }));
const logIn = () => expectOk(call('POST', '/api/v1/auth/login', {}, credentials));
const change = () => expectOk(call('PATCH', rule, { cookie }, { name: `Changed ${next++} times` }));
/** Whether the reservation was granted as fast as usual. */
async function reserve(): Promise<boolean> {
  const body = { request_id: randomUUID(), agent_id: 'agent-working', run_id: 'run-1', amount_micros: 1 };
  const asked = call('POST', '/api/v1/reservations', { authorization: `Bearer ${apiKey}` }, body);
  const { elapsedMs, status, failure } = await asked;
  reservationsMs.push(elapsedMs);
  // The enforcer takes at most a second, and then asks for a retry.
  if (status === 503) refused += 1;
  else if (failure !== null) failures.push(failure);
  return failure === null && elapsedMs < USUAL_MS;
}

function atRate(perSecond: number, work: () => Promise<unknown>): NodeJS.Timeout {
  return setInterval(() => {
    const done: Promise<unknown> = work().finally(() => begun.delete(done));
    begun.add(done);
  }, 1000 / perSecond);
}

const timers: NodeJS.Timeout[] = [];

/** The first calls in a workspace load what later ones find in memory. They are not counted. */
async function begin(): Promise<void> {
  await Promise.all([...reads.map(read), logIn(), change(), reserve()]);
  [tookMs.length, reservationsMs.length] = [0, 0];
  timers.push(
    atRate(CALLS_PER_SECOND, read),
    atRate(LOGINS_PER_SECOND, logIn),
    atRate(CHANGES_PER_SECOND, change),
    atRate(RESERVATIONS_PER_SECOND, reserve),
  );
}

async function recover(): Promise<number> {
  const start = performance.now();
  for (let usual = 0; usual < USUAL_IN_A_ROW; usual = (await reserve()) ? usual + 1 : 0);
  return (performance.now() - start) / 1000;
}

async function stop(): Promise<Experience> {
  for (const timer of timers) clearInterval(timer);
  await Promise.all(begun);
  const sorted = reservationsMs.toSorted((a, b) => a - b);
  const reservationP95Ms = sorted[Math.ceil(sorted.length * 0.95) - 1] ?? 0;
  const slowestMs = Math.max(0, ...tookMs);
  return { calls: tookMs.length, failures, slowestMs, reservations: sorted.length, refused, reservationP95Ms };
}

parentPort?.on('message', (order: Orders) => {
  const answers: Record<Orders, () => Promise<unknown>> = { begin, recover, stop };
  void answers[order]().then((answer) => parentPort?.postMessage(answer));
});
