import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import { type LitellmProxy, startLitellm } from './litellm.proxy.ts';
import { type LosingProxy, startLosingProxy } from './losing.proxy.ts';
import { startUpstream, type Upstream } from './openai.upstream.ts';
import { type Reservation, startTollkeeper, type Tollkeeper } from './tollkeeper.ts';

/** What a call with `USAGE` costs by the prices of gpt-4o, and what it costs at most with 50 tokens of output. */
export const COST = 225;
export const HELD = 520;
export const DEFAULT_ESTIMATE = 40_000;

export interface OpenAiError {
  error: { message: string; type: string; code: string };
}

interface Started {
  upstream: Upstream;
  tollkeeper: Tollkeeper;
  /** Denies calls while Tollkeeper is unavailable. */
  denying: LitellmProxy;
  /** Lets them through. Its calls have the agent of their key, and reach Tollkeeper through `losing`. */
  allowing: LitellmProxy;
  losing: LosingProxy;
}

interface CallOptions {
  /** By default, `denying`. */
  proxy?: LitellmProxy;
  path?: string;
  prompt?: string;
  body?: object;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** Two proxies of LiteLLM, with a provider behind them and a Tollkeeper beside them, for the tests of a file. */
export function useLitellm() {
  let all: Started;
  const stops: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    const upstream = await startUpstream();
    stops.push(upstream.stop);
    const tollkeeper = await startTollkeeper();
    stops.push(tollkeeper.remove);
    const losing = await startLosingProxy(tollkeeper.url);
    stops.push(losing.stop);
    const env = {
      TOLLKEEPER_KEY: tollkeeper.key,
      TOLLKEEPER_DEFAULT_ESTIMATE_MICROS: String(DEFAULT_ESTIMATE),
      // On a machine that runs other suites as well, an answer may take longer than the default.
      TOLLKEEPER_TIMEOUT_SECONDS: '5',
    };
    const start = async (settings: Record<string, string>) => {
      const proxy = await startLitellm({ upstreamUrl: upstream.url, env: { ...env, ...settings } });
      stops.push(proxy.stop);
      return proxy;
    };
    const denying = await start({
      TOLLKEEPER_URL: tollkeeper.url,
      TOLLKEEPER_AGENT_FIELD: 'agent_id',
      TOLLKEEPER_LABELS: 'team=team_alias, user=end_user_id, cost.center=cost_center, env',
    });
    const allowing = await start({
      TOLLKEEPER_URL: losing.url,
      TOLLKEEPER_ON_UNAVAILABLE: 'allow',
      TOLLKEEPER_LABELS: 'env',
    });
    all = { upstream, tollkeeper, denying, allowing, losing };
  });
  afterAll(async () => {
    for (const stop of stops.reverse()) await stop();
  });

  return {
    started: () => all,
    /** A chat completion of 50 tokens at most, unless the options say something else. */
    call(agent: string, { proxy = all.denying, path = 'chat/completions', prompt, ...rest }: CallOptions = {}) {
      const messages = [{ role: 'user', content: prompt ?? 'hello' }];
      return fetch(`${proxy.url}/v1/${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer sk-${agent}`, ...rest.headers },
        body: JSON.stringify({ model: 'chat', max_tokens: 50, messages, ...rest.body }),
        signal: rest.signal ?? null,
      });
    },
    /** The only reservation of the agent, once its call has ended. */
    endedReservation(agent: string): Promise<Reservation> {
      return eventually(async () => {
        const reservations = await all.tollkeeper.reservationsOf(agent);
        expect(reservations).toHaveLength(1);
        expect(reservations[0]?.state).not.toBe('held');
        return reservations[0] as Reservation;
      });
    },
    /** Call it behind the other tests of a file. */
    itKeepsKeysOutOfLogs(): void {
      it('the key of Tollkeeper is in no log', () => {
        const { denying, allowing, tollkeeper } = all;
        for (const proxy of [denying, allowing]) {
          expect(proxy.logs()).toContain('tollkeeper');
          expect(proxy.logs()).not.toContain(tollkeeper.key.split('.')[1]);
        }
      });
    },
  };
}

export const newAgent = () => `agent-${randomUUID()}`;
export const settled = (micros: number) => ({ state: 'settled', settled_micros: micros });
export const streaming = (prompt?: string) => ({ body: { stream: true }, ...(prompt !== undefined && { prompt }) });
