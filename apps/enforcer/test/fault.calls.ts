import { Agent, request as httpRequest } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { encodeGatewayEvent, GATEWAY_EVENTS_TOPIC } from '@tollkeeper/contracts';
import type { FaultCall } from './fault.budgets.ts';
import type { Chance, FaultRecord } from './fault.record.ts';
import type { Stage } from './fault.stage.ts';
import type { FaultWorkspace } from './fault.workspaces.ts';

/** Time until a call without an answer is aborted and repeated. */
const ANSWER_TIMEOUT_MS = 10_000;
const REPEAT_MS = 50;
/** Time until a call without an answer counts as failed for good. */
const PATIENCE_MS = 180_000;

/** The parts of answers that gateways read. */
interface AnswerBody {
  decision: string;
  denial: LimitNumbers;
  limits: LimitNumbers[];
  reservation: { id: string; expires_at: string };
  state: string;
  settled_micros: number;
  results: { outcome: string }[];
}

export interface LimitNumbers {
  scope: string;
  scope_id: string;
  value?: string;
  spent_micros: number;
  held_micros: number;
  limit_micros: number;
  state?: string;
}

/** Settled spend of a call. */
interface Settled {
  settlement_id: string;
  amount_micros: number;
  reservation_id?: string;
}

/** The ways from a gateway to the enforcer: each call and event is repeated until it is answered. */
export interface FaultCalls {
  /** Asks any replica. `isFirst`: the first attempt was answered, so nothing had been done before. */
  post(workspace: FaultWorkspace, path: string, body: object | null): Promise<Answer>;
  /** Appends settled spend to the log, as ingest does, sometimes twice. */
  report(workspace: FaultWorkspace, call: FaultCall, settled: Settled): Promise<void>;
  close(): void;
}

interface Answer {
  status: number;
  body: AnswerBody;
  isFirst: boolean;
  askedAt: number;
}

export function createFaultCalls(
  { replicas, eventLog }: Pick<Stage, 'replicas' | 'eventLog'>,
  record: FaultRecord,
  { next, pick }: Chance,
  maxSockets: number,
): FaultCalls {
  const agent = new Agent({ keepAlive: true, maxSockets });

  function send(port: number, apiKey: string, path: string, body: object | null) {
    return new Promise<Pick<Answer, 'status' | 'body'>>((resolve, reject) => {
      const payload = body === null ? undefined : JSON.stringify(body);
      const headers = {
        authorization: `Bearer ${apiKey}`,
        ...(payload !== undefined && {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(payload),
        }),
      };
      const outgoing = httpRequest(
        { host: '127.0.0.1', port, path, method: 'POST', headers, agent, timeout: ANSWER_TIMEOUT_MS },
        (incoming) => {
          const chunks: Buffer[] = [];
          incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
          incoming.on('error', reject);
          incoming.on('end', () => {
            const text = Buffer.concat(chunks).toString();
            resolve({ status: incoming.statusCode ?? 0, body: JSON.parse(text) as AnswerBody });
          });
        },
      );
      outgoing.on('timeout', () => outgoing.destroy(new Error('no answer in time')));
      outgoing.on('error', reject);
      outgoing.end(payload);
    });
  }

  return {
    async post(workspace, path, body) {
      record.made += 1;
      workspace.callsLeft -= 1;
      const askedAt = Date.now();
      for (let attempt = 0; ; attempt += 1) {
        const answer = await send(pick(replicas).port, workspace.apiKey, `/api/v1${path}`, body).catch(() => null);
        if (answer !== null && answer.status !== 503) return { ...answer, isFirst: attempt === 0, askedAt };
        record.count(answer === null ? 'no answer' : '503');
        const last = record.kills.at(-1);
        if (last !== undefined) last.repeated += 1;
        if (Date.now() - askedAt > PATIENCE_MS) throw new Error(`no answer to ${path} for too long`);
        await delay(REPEAT_MS);
      }
    },
    async report(workspace, { agentId, planKey, ...call }, settled) {
      record.made += 1;
      workspace.callsLeft -= 1;
      const now = new Date().toISOString();
      const data = {
        ...{ ...settled, ...call, agent_id: agentId, run_id: 'run-1' },
        ...(planKey !== null && { plan_key: planKey }),
      };
      const event = {
        ...{ specversion: '1.0' as const, id: `evt-${settled.settlement_id}`, source: '/gateways/faults' },
        ...{ type: 'spend.settled' as const, time: now, data },
      };
      const encoded = encodeGatewayEvent({ tenantId: workspace.tenantId, receivedAt: now, event });
      const append = () =>
        eventLog.append(GATEWAY_EVENTS_TOPIC, [encoded]).then(
          () => true,
          () => false,
        );
      for (let times = next() < 0.1 ? 2 : 1; times > 0; times -= 1) {
        while (!(await append())) await delay(REPEAT_MS);
      }
      record.count('events');
    },
    close: () => agent.destroy(),
  };
}
