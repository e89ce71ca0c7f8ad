import { type ApiAnswer, type ApiRequest, createClient } from './api.client.ts';
import type { Target } from './target.ts';
import type { Replica } from '@tollkeeper/fleet';

/** The outcome of a request: its status, or how the connection failed. */
interface Outcome {
  request: string;
  status: number | string;
  retryAfter: string | undefined;
}

/**
 * Starts `work` this many times a second until it is stopped, however long each takes. `stop` waits for work in
 * progress.
 */
export function atRate(perSecond: number, work: () => Promise<unknown>): { stop(): Promise<void> } {
  const begun = new Set<Promise<unknown>>();
  const failures: unknown[] = [];
  const timer = setInterval(() => {
    const done: Promise<unknown> = work()
      .catch((error: unknown) => failures.push(error))
      .finally(() => begun.delete(done));
    begun.add(done);
  }, 1000 / perSecond);
  return {
    async stop() {
      clearInterval(timer);
      await Promise.all(begun);
      if (failures.length > 0) throw failures[0];
    },
  };
}

/** Does `work` for each number below `times`, at most `atOnce` at a time. */
export async function repeat(times: number, atOnce: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < times) await work(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/** Replicas of the gateway behind a load balancer, as in a cluster: it sends to replicas that report ready. */
export interface Balancer {
  /** Sends to the ready replicas in turn. Resolves to the answer, or null if the connection failed. */
  call(request: ApiRequest): Promise<ApiAnswer | null>;
  /** The outcomes of all calls so far. */
  readonly outcomes: readonly Outcome[];
  stop(): Promise<void>;
}

export function balance(target: Target, cookie: string | null, gateways: readonly Replica[]): Balancer {
  const clients = gateways.map(({ httpUrl }) => createClient({ ...target, baseUrl: httpUrl }, cookie));
  let ready = [...clients];
  let next = 0;
  const outcomes: Outcome[] = [];
  const probing = atRate(10, async () => {
    const states = await Promise.all(gateways.map(({ opsUrl }) => fetch(`${opsUrl}/readyz`).catch(() => null)));
    ready = clients.filter((_client, index) => states[index]?.ok === true);
  });
  return {
    outcomes,
    stop: () => probing.stop(),
    async call(request) {
      const name = `${request.method ?? 'GET'} ${request.path}`;
      const client = ready[next++ % ready.length];
      if (client === undefined) throw new Error('no gateway is ready');
      try {
        const answer = await client.call(request);
        outcomes.push({ request: name, status: answer.status, retryAfter: answer.headers['retry-after'] });
        return answer;
      } catch (error) {
        outcomes.push({ request: name, status: String(error), retryAfter: undefined });
        return null;
      }
    },
  };
}
