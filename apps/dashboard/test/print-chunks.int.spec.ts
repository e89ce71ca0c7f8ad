import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { provenTenantId } from '@tollkeeper/kernel';
import { ensureIndexes } from '@tollkeeper/mongo';
import { useMongo } from '@tollkeeper/testing';
import { SPEND_SETTLED, type DashboardEvent } from '../src/domain/event.ts';
import { createChunkStore } from '../src/store/chunks/chunk.store.ts';

const mongo = useMongo();
const chunks = createChunkStore(mongo.connection, 2_000_000_000);
const [tenantId, other] = ['ws_1', 'ws_2'].map(provenTenantId) as [
  DashboardEvent['tenantId'],
  DashboardEvent['tenantId'],
];
const time = Date.parse('2026-11-22T10:00:00.000Z');

const settled = (tenant: typeof tenantId, at: number): DashboardEvent => {
  const data = { settlement_id: `s${at}`, run_id: 'run-1', agent_id: 'planner', amount_micros: 7 };
  return { tenantId: tenant, source: 'gw', eventId: `e${at}`, type: SPEND_SETTLED, time: at, data };
};

beforeAll(async () => {
  await ensureIndexes(Object.values(mongo.connection.models));
  const day = 86_400_000;
  const starts = [{ tenantId, runId: 'run-1', from: time + 5, to: time }];
  await chunks.insert(
    undefined,
    [time, time + 1, time - day].map((at) => settled(tenantId, at)),
    starts,
  );
  await chunks.insert(undefined, [settled(other, time)], []);
});

function print(options: string[]) {
  const args = ['run', '-s', 'chunks', '--', ...options];
  const env = { ...process.env, MONGODB_URI: mongo.uri, MONGODB_DATABASE: mongo.database };
  return promisify(execFile)('npm', args, { cwd: `${import.meta.dirname}/..`, env });
}

describe('npm run chunks', () => {
  it('prints the events and the starts of runs of a workspace since a time, as JSON lines', async () => {
    const { stdout } = await print(['--tenant', tenantId, '--from', '2026-11-22T00:00:00Z']);
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines).toEqual([
      ...[time, time + 1].map((at) => {
        const { eventId, source, type, data } = settled(tenantId, at);
        const when = new Date(at).toISOString();
        return { chunk: lines[0]!['chunk'], tenant_id: tenantId, event_id: eventId, source, type, time: when, data };
      }),
      expect.objectContaining({ run_id: 'run-1', starts_at: new Date(time).toISOString() }),
      expect.objectContaining({ run_id: 'run-1', no_longer_starts_at: new Date(time + 5).toISOString() }),
    ]);
  });

  it('names a damaged chunk, prints the others and fails', async () => {
    const stored = mongo.connection.collection('chunks');
    const { _id } = (await stored.findOne({ tenantId }))!;
    await stored.updateOne({ _id }, { $set: { events: Buffer.from('damaged') } });
    const failed = (await print([]).catch((error: unknown) => error)) as {
      code: number;
      stdout: string;
      stderr: string;
    };
    expect(failed.code).toBe(1);
    expect(failed.stderr).toContain(`Chunk ${_id.toHexString()} can't be read: `);
    expect(failed.stdout).toContain(`"tenant_id":"${other}"`);
    expect(failed.stdout).not.toContain(_id.toHexString());
  });
});
