import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CALLER_HEADER, signCallerToken } from '@tollkeeper/http';
import { provenTenantId, type TenantId } from '@tollkeeper/kernel';
import { ensureIndexes } from '@tollkeeper/mongo';
import { CALLER_TOKEN_SECRET, eventually, useMongo } from '@tollkeeper/testing';
import { SPEND_SETTLED, type DashboardEvent } from '../src/domain/event.ts';
import { namesOf } from '../src/domain/names.ts';
import { rollupDeltas } from '../src/domain/rollup.ts';
import { createNameStore } from '../src/store/rollups/name.store.ts';
import { createRollupStore } from '../src/store/rollups/rollup.store.ts';
import type { DashboardProcessMessage } from './dashboard.process.ts';

const AGENTS = 60_000;
const READS = 200;
/** V8's share of the pod's 512 MiB. */
const HEAP_MIB = 256;
const now = Date.parse('2026-11-21T18:34:56.789Z');
const large = provenTenantId('ws_large');
const other = provenTenantId('ws_other');

const mongo = useMongo();
const database = mongo.newDatabase();
let child: ChildProcess;
let httpUrl: string;

beforeAll(async () => {
  const connection = mongo.connection.useDb(database);
  const names = createNameStore(connection, 2_000_000_000);
  const rollups = createRollupStore(connection, 2_000_000_000, names);
  await ensureIndexes(Object.values(connection.models));
  for (const events of [agents(large, AGENTS), agents(other, 50)]) {
    await names.add(undefined, namesOf(events));
    await rollups.add(undefined, rollupDeltas(events, []));
  }
  const args = [mongo.uri, database, String(now), CALLER_TOKEN_SECRET];
  const execArgv = [`--max-old-space-size=${HEAP_MIB}`];
  child = fork(`${import.meta.dirname}/dashboard.process.ts`, args, { execArgv });
  const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`The dashboard ended with ${code}`)));
  const [message] = (await Promise.race([once(child, 'message'), ended])) as [DashboardProcessMessage];
  ended.catch(() => undefined);
  httpUrl = message.httpUrl;
});
afterAll(() => void child.kill('SIGKILL'));

/** One settlement for each of `count` agents. Agent n spends n. */
function agents(tenantId: TenantId, count: number): DashboardEvent[] {
  return Array.from({ length: count }, (_, index) => {
    const data = { agent_id: `agent-of-many-${index}`, model: 'opus', amount_micros: index, settlement_id: 's' };
    return { tenantId, source: 'gw', eventId: 'e', type: SPEND_SETTLED, time: now - 3_600_000, data };
  });
}

interface Answer {
  status: number;
  retryAfter: string | null;
  body: Body;
}

/** The common fields of all answers requested here, including refusals. */
interface Body {
  items: Record<string, unknown>[];
  groups: Record<string, unknown>[];
  code: string;
  error: string;
}

async function get(tenantId: TenantId, path: string, signal: AbortSignal | null = null): Promise<Answer> {
  const token = await signCallerToken(CALLER_TOKEN_SECRET, 'dashboard', { userId: 'u', tenantId, role: 'member' });
  const response = await fetch(`${httpUrl}/api/v1/dashboard${path}`, { headers: { [CALLER_HEADER]: token }, signal });
  return {
    status: response.status,
    retryAfter: response.headers.get('retry-after'),
    body: (await response.json()) as Body,
  };
}

describe('reads of a workspace of 60,000 agents in the memory of a pod', () => {
  it.each([
    ['/top-agents?range=today&timezone=UTC&limit=3', 'items', 'agent_id'],
    ['/spend/breakdown?range=today&timezone=UTC&by=agent&limit=3', 'groups', 'key'],
  ] as const)(
    '%s is answered or refused, 200 at a time, and other workspaces are answered',
    async (path, list, key) => {
      const reads = Array.from({ length: READS }, () => get(large, path));
      await expect(Promise.race(reads)).resolves.toMatchObject({ status: expect.any(Number) });

      // These answers do not wait for the large reads.
      const neighbours = await Promise.all(Array.from({ length: 20 }, () => get(other, path)));
      for (const { status, body } of neighbours) {
        expect(status).toBe(200);
        expect(body[list][0]?.[key]).toBe('agent-of-many-49');
      }

      const answers = await Promise.all(reads);
      const refused = answers.filter(({ status }) => status !== 200);
      for (const { status, retryAfter, body } of refused) {
        expect([status, retryAfter, body.code]).toEqual([429, '10', 'rate_limited']);
        expect(body.error).toContain('this workspace');
      }
      expect(refused.length).toBeLessThan(READS);
      expect(child.exitCode).toBeNull();
      const { status, body } = await get(large, path);
      expect(status).toBe(200);
      expect(body[list]).toHaveLength(3);
      if (list === 'items') {
        const top = [59_999, 59_998, 59_997].map((number) => `agent-of-many-${number}`);
        expect(body.items.map((item) => item['agent_id'])).toEqual(top);
      }
    },
  );

  it('no read stays in the way once its client is gone', async () => {
    const gone = new AbortController();
    const path = '/top-agents?range=today&timezone=UTC&limit=3';
    // As many as may wait, and one in progress.
    const reads = Array.from({ length: READS }, () => get(large, path, gone.signal));
    const outcomes = Promise.allSettled(reads);
    await Promise.race(reads);
    gone.abort();
    await outcomes;
    await eventually(async () => expect((await get(large, path)).status).toBe(200));
    expect(child.exitCode).toBeNull();
  });
});
