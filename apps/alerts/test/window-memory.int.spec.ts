import { type ChildProcess, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { encodeGatewayEvent, GATEWAY_EVENTS_TOPIC, type GatewayEvent } from '@tollkeeper/contracts';
import { createConfiguredEventLog } from '@tollkeeper/event-log';
import { provenTenantId, type TenantId } from '@tollkeeper/kernel';
import { createMetrics } from '@tollkeeper/runtime';
import { CALLER_TOKEN_SECRET, eventually, useMongo } from '@tollkeeper/testing';
import { mongo as driver } from 'mongoose';
import { MAX_SPEND_ENTRIES } from '../src/domain/sum.condition.ts';
import { event, newTenant, useAlerts } from './alerts.stack.ts';

const MAIN = join(import.meta.dirname, '../src/main.ts');
const MINUTE = 60_000;
/** Memory of the alerts pod. */
const POD_BYTES = 768 * 2 ** 20;
const mongo = useMongo();

describe('windows that take more than the budget', () => {
  const BUDGET = 1_000_000;
  const stack = useAlerts(mongo, { WINDOW_MEMORY_BYTES: String(BUDGET) });
  const { clock } = stack;
  const secondInAnHour = { rule_config: { window_seconds: 3600, threshold: 2 } };
  const report = async (tenantId: TenantId): Promise<string> => {
    const reported = event(clock.now);
    await stack.append(tenantId, reported);
    await stack.settled();
    return reported.id;
  };
  const notEvaluatedSince = async (tenantId: TenantId) =>
    (await stack.expecting(200, 'get', tenantId, '/system'))['NotEvaluatedSince'];
  const held = async () => (await stack.metric('alerts_window_bytes'))[0]!.value;
  const totalOf = async (tenantId: TenantId) => (await stack.expecting(200, 'get', tenantId, '?limit=1'))['total'];

  it('are forgotten where nothing happened for a minute, and continue from what was stored', async () => {
    const tenants = [newTenant(), newTenant(), newTenant()] as const;
    for (const tenantId of tenants) await stack.createRules(300, tenantId, secondInAnHour);
    const first = new Map<TenantId, string>();
    for (const tenantId of tenants) {
      first.set(tenantId, await report(tenantId));
      clock.now += MINUTE;
      expect(await held()).toBeGreaterThan(BUDGET / 2);
      expect(await held()).toBeLessThan(BUDGET);
    }
    for (const tenantId of tenants) {
      const second = await report(tenantId);
      clock.now += MINUTE;
      expect(await totalOf(tenantId)).toBe(300);
      expect((await stack.alerts(tenantId))[0]).toMatchObject({ sample_event_ids: [second, first.get(tenantId)] });
      expect(await held()).toBeLessThan(BUDGET);
    }
    expect(await stack.impaired()).toBeUndefined();
  });

  it('of busy workspaces set the largest of them aside, visibly, until there is room; the others fire', async () => {
    // In different partitions, so that their events are in different batches.
    const [small, large] = [provenTenantId('ws_small'), provenTenantId('ws_large')];
    await stack.createRules(300, small, secondInAnHour);
    await stack.createRules(310, large, secondInAnHour);
    await report(small);
    const first = await report(large);
    const since = new Date(clock.now).toISOString();
    await report(large);
    await report(small);

    expect([await totalOf(small), await totalOf(large)]).toEqual([300, 0]);
    expect(await held()).toBeLessThan(BUDGET);
    expect(await notEvaluatedSince(small)).toBeNull();
    await eventually(async () => expect(await notEvaluatedSince(large)).toBe(since));
    await expect(stack.impaired()).rejects.toThrow('the rules of 1 workspaces are not evaluated');
    const warnings = stack.logs.lines().filter(({ tenant_id: tenantId }) => tenantId === large);
    expect(warnings).toMatchObject([{ reason: expect.stringContaining('all windows together may take 1000000') }]);
    const events = await stack.metric('alerts_events_total');
    expect(events.find(({ labels }) => labels['outcome'] === 'set_aside')).toMatchObject({ value: 1 });

    await stack.restart();
    expect(await notEvaluatedSince(large)).toBe(since);
    await report(small);
    clock.now += MINUTE;
    const third = await report(large);
    expect(await notEvaluatedSince(large)).toBeNull();
    expect(await stack.impaired()).toBeUndefined();
    expect(await totalOf(large)).toBe(310);
    // Without the event that came meanwhile.
    expect((await stack.alerts(large))[0]).toMatchObject({ event_count: 2, sample_event_ids: [third, first] });
  });

  it('are set aside alone where one workspace takes more than all, until its rules are fewer', async () => {
    const [tenantId, other] = [newTenant(), newTenant()];
    clock.now += MINUTE;
    const ids = await stack.createRules(500, tenantId, secondInAnHour);
    await stack.createRule(other, secondInAnHour);
    await report(tenantId);
    await report(other);
    await report(tenantId);
    await report(other);
    expect([await totalOf(tenantId), await totalOf(other)]).toEqual([0, 1]);
    expect(await notEvaluatedSince(tenantId)).not.toBeNull();

    for (const id of ids.slice(100)) await stack.expecting(204, 'delete', tenantId, `/rules/${id}`);
    clock.now += MINUTE;
    await eventually(async () => expect(await notEvaluatedSince(tenantId)).toBeNull());
    await report(tenantId);
    expect(await totalOf(tenantId)).toBe(100);
  });
});

describe('four workspaces of 620 rules about the spend of a day, with nearly all the settlements that these can hold', () => {
  const RULES = 620;
  const EVENTS = 3;
  const stack = useAlerts(mongo);
  const { clock } = stack;
  const database = () => mongo.connection.useDb(stack.database);
  const windows = () => database().collection<{ _id: string }>('windows');
  let child: ChildProcess | undefined;
  afterAll(() => void child?.kill('SIGKILL'));

  const settlement = (id: string): GatewayEvent =>
    event(clock.now, 'spend.settled', { settlement_id: id, amount_micros: 1 });

  /** The state after nearly {@link MAX_SPEND_ENTRIES} settlements, none of which share an entry yet. */
  async function fill(tenantId: TenantId): Promise<void> {
    const size = MAX_SPEND_ENTRIES - 100;
    const entries = Float64Array.from({ length: 4 * size }, (_, index) => {
      const entry = Math.floor(index / 4);
      return [clock.now - 20_000 * (size - entry), entry, 1, 1][index % 4]!;
    });
    const { modifiedCount } = await windows().updateMany(
      { tenantId },
      { $set: { stored: size, size }, $unset: { entries: 1, parts: 1 } },
    );
    expect(modifiedCount).toBe(RULES);
    const PIECE = 512;
    for await (const { _id: rule } of windows().find({ tenantId }, { projection: { _id: 1 } })) {
      const pieces = Array.from({ length: Math.ceil(size / PIECE) }, (_, index) => {
        const part = entries.slice(4 * PIECE * index, 4 * PIECE * (index + 1));
        return { _id: `${rule}/${index}`, tenantId, parts: [new driver.Binary(new Uint8Array(part.buffer))] };
      });
      await database().collection<{ _id: string }>('window_pieces').insertMany(pieces);
    }
  }

  /** Evaluates in a separate process with the heap size of its pod. */
  function startAlerts(): ChildProcess {
    const log = { EVENT_LOG_MONGODB_URI: mongo.uri, EVENT_LOG_DATABASE: stack.logDatabase };
    return spawn(process.execPath, [`--max-old-space-size=${POD_BYTES / 2 / 2 ** 20}`, MAIN], {
      stdio: ['ignore', 'inherit', 'inherit'],
      env: {
        ...{ HOST: '127.0.0.1', OPS_PORT: '0', HTTP_PORT: '0', LOG_LEVEL: 'error' },
        ...{ MONGODB_URI: mongo.uri, MONGODB_DATABASE: stack.database, ...log, CALLER_TOKEN_SECRET },
        ...{ IDENTITY_GRPC: stack.peers.address, NOTIFIER_GRPC: stack.peers.address },
        BUDGETS_GRPC: stack.peers.address,
      },
    });
  }

  it('leave the process within the memory of its pod, and another workspace fires', async () => {
    const spenders = Array.from({ length: 4 }, newTenant);
    const other = newTenant();
    const spend = {
      rule_kind: 'spend_gte',
      rule_config: { window_seconds: 86_400, threshold_micros: 1_000_000_000_000_000 },
    };
    for (const tenantId of spenders) {
      await stack.createRules(RULES, tenantId, spend);
      await stack.append(tenantId, settlement('first'));
    }
    await stack.createRule(other, { rule_config: { window_seconds: 3600, threshold: 2 } });
    await stack.append(other, event(clock.now));
    await stack.settled();
    await stack.stop();
    for (const tenantId of spenders) await fill(tenantId);

    const log = createConfiguredEventLog({
      config: { EVENT_LOG_MONGODB_URI: mongo.uri, EVENT_LOG_DATABASE: stack.logDatabase },
      logger: stack.logs.logger,
      metrics: createMetrics('log'),
    });
    await log.start();
    const append = (tenantId: TenantId, reported: GatewayEvent) => {
      const receivedAt = new Date(clock.now).toISOString();
      return log.append(GATEWAY_EVENTS_TOPIC, [encodeGatewayEvent({ tenantId, event: reported, receivedAt })]);
    };
    for (let n = 0; n < EVENTS; n += 1) for (const tenantId of spenders) await append(tenantId, settlement(`stl-${n}`));
    await append(other, event(clock.now));
    child = startAlerts();

    const alerts = mongo.connection.useDb(stack.database).collection('alerts');
    const offsets = mongo.connection
      .useDb(stack.database)
      .collection<{ _id: string; nextOffset: number }>('consumer_offsets');
    await eventually(async () => expect(await alerts.countDocuments({ tenantId: other })).toBe(1));
    const all = spenders.length * (1 + EVENTS) + 2;
    const behind = async (): Promise<number> => {
      const evaluated = await offsets.find({ _id: { $regex: `^alerts/${GATEWAY_EVENTS_TOPIC}/` } }).toArray();
      return all - evaluated.reduce((sum, { nextOffset }) => sum + nextOffset, 0);
    };
    await eventually(async () => expect(await behind()).toBe(0));
    const peak = Number(/VmHWM:\s+(\d+) kB/.exec(await readFile(`/proc/${child!.pid}/status`, 'utf8'))![1]) * 1024;
    expect(peak).toBeLessThan(POD_BYTES);
    expect(child.exitCode).toBeNull();
    child.kill('SIGKILL');
    await log.stop();
    await stack.start();
  });
});
