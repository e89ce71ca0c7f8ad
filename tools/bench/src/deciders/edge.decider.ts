import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { AGENT_ID, AMOUNT_MICROS, PLAN_KEY, TTL_SECONDS } from './call.ts';
import type { Decider } from './decider.ts';

interface Granted {
  decision: 'allowed' | 'denied';
  reservation: { id: string };
}

/** Like a gateway outside of the cluster: HTTP with kept-alive connections. */
export function createEdgeDecider({ baseUrl, apiKey }: { baseUrl: string; apiKey: string }): Decider {
  const agent = new Agent({ keepAlive: true });
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };

  function post(path: string, body?: object): Promise<string> {
    return new Promise((resolve, reject) => {
      const sent = request(`${baseUrl}/api/v1/reservations${path}`, { method: 'POST', agent, headers }, (response) => {
        text(response).then((answer) => {
          const { statusCode = 0 } = response;
          if (statusCode < 300) resolve(answer);
          else reject(new Error(`${path} answered ${statusCode}: ${answer}`));
        }, reject);
      });
      sent.on('error', reject);
      sent.end(body && JSON.stringify(body));
    });
  }

  return {
    async decide(requestId) {
      const call = { request_id: requestId, agent_id: AGENT_ID, run_id: 'run-bench', plan_key: PLAN_KEY };
      const answer = await post('', { ...call, amount_micros: AMOUNT_MICROS, ttl_seconds: TTL_SECONDS });
      const { decision, reservation } = JSON.parse(answer) as Granted;
      if (decision !== 'allowed') throw new Error('The call was denied');
      return reservation.id;
    },
    settle: async (id) =>
      void (await post(`/${id}:settle`, { settlement_id: `s-${id}`, amount_micros: AMOUNT_MICROS })),
    release: async (id) => void (await post(`/${id}:release`)),
    async close() {
      agent.destroy();
    },
  };
}
