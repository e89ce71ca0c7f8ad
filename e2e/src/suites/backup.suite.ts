import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import { type ApiClient, anonymous, logIn } from '../api.client.ts';
import { cloudEvent } from '../events.ts';
import { type FullWorkspace, FULL_SPAN_MS, newFullWorkspace } from '../full.workspace.ts';
import { type LosableStage, useLosableStage } from '../losable.stage.ts';
import { BATCH_SIZE, startSteadyTraffic } from '../steady.traffic.ts';
import { newWatchedWorkspace, type WatchedWorkspace } from '../watched.workspace.ts';
import { pictureOf } from '../workspace.picture.ts';
import { newWorkspace, reportEvents, type TestWorkspace } from '../workspace.ts';

const ALARMS = 16;
/** Before and after the backup: so alarms are half counted at each of these times. */
const BATCHES = 10;

/** What a gateway settled after the backup. */
interface Settlement {
  reservation: string;
  settlement_id: string;
  amount_micros: number;
}

export function describeBackup(): void {
  describe('all of MongoDB is lost, and restored from a backup that was made under load', () => {
    const stage = useLosableStage();
    let owner: ApiClient;
    let full: FullWorkspace;
    let watched: WatchedWorkspace;
    let spender: Spender;
    let settled: { old: Settlement; new: Settlement };
    let before: Record<string, unknown>;
    let pictured: { slug: string; span: string };
    const picture = () => pictureOf(stage.target(), owner, pictured);

    const accepted = (batches: number) =>
      eventually(() => expect(watched.gateway.accepted.length).toBeGreaterThan(BATCH_SIZE * batches));

    const times: string[] = [];
    async function timed<T>(what: string, work: Promise<T>): Promise<T> {
      const start = performance.now();
      const result = await work;
      times.push(`${what}: ${((performance.now() - start) / 1000).toFixed(1)} s`);
      return result;
    }

    beforeAll(async () => {
      const target = stage.target();
      owner = await logIn(target, target.owner);
      full = await newFullWorkspace(target, owner, stage.receiver());
      watched = await newWatchedWorkspace({ target, owner, receiver: stage.receiver(), alarms: ALARMS });
      spender = await newSpender(stage, owner);
      const open = await spender.reserve(1_000);
      const from = new Date(Date.now() - FULL_SPAN_MS).toISOString();
      pictured = { slug: full.workspace.slug, span: `from=${from}&to=${new Date().toISOString()}` };
      await eventually(async () => {
        before = await picture();
        expect(await picture()).toEqual(before);
      });

      const during = startSteadyTraffic([watched]);
      await accepted(BATCHES);
      const text = await timed('backup', stage.operate('backup', '--to', stage.path('backup')));
      expect(text).toContain('need these keys');
      await during.stop();
      settled = { old: await spender.settle(open, 900), new: await spender.settle(await spender.reserve(500), 450) };
      const after = startSteadyTraffic([watched]);
      await accepted(watched.gateway.accepted.length / BATCH_SIZE + BATCHES);
      // Signatures are checked while they are fresh.
      watched.arrivals();
      await stage.loseMongo();
      await timed('restore', stage.operate('restore', '--from', stage.path('backup')));
      await timed('start of all services', stage.start());
      await accepted(watched.gateway.accepted.length / BATCH_SIZE + BATCHES);
      await after.stop();
      watched.arrivals();
    });

    afterAll(() => void process.stdout.write(`\n${times.join(', ')}\n`));

    it('everything that a workspace had before the backup can be read as before', async () => {
      expect(Object.keys(before).length).toBeGreaterThan(25);
      await eventually(async () => expect(await picture()).toEqual(before));
    });

    it('events of before and after the backup are counted once, and each alert of theirs arrives under one id', async () => {
      await eventually(async () => {
        expect(await watched.counts()).toEqual(watched.expectedCounts());
        expect(await watched.alerts()).toEqual(watched.expectedAlerts());
      });
      // From the log, in its order, each alert is the same one. So is its notification.
      await eventually(async () => {
        const webhookIds = [...watched.arrivals().byAlert.values()].map(({ size }) => size);
        expect(webhookIds).toEqual(watched.expectedAlerts().map(() => 1));
      });
    });

    it('the chains of the audit log are whole', async () => {
      // The services may run: the log and this MongoDB are shared, not owned.
      expect(await stage.operate('verify')).toMatch(/workspace/);
    });

    it('settlements count once, though reservations of after the backup are not known any more', async () => {
      await spender.repeat(settled.old);
      expect(await spender.stateOf(settled.old.reservation)).toBe('settled');
      expect(await spender.stateOf(settled.new.reservation)).toBe(404);
      await spender.reportUnreserved(settled.new);
      await eventually(async () => expect(await spender.spent()).toEqual({ spent: 1_350, held: 0, counted: 1_350 }));
    });

    it('a rule that had counted two of three events fires at the next one', async () => {
      await full.fireHalfFullRule();
      const path = full.workspace.path('/alerts');
      await eventually(async () => {
        const { items } = await owner.expect<{ items: { rule_name: string; deliveries: { status: string }[] }[] }>({
          path,
        });
        expect(items.map(({ rule_name }) => rule_name).toSorted()).toEqual(['guard.blocked', 'night.watch']);
        // The secrets of its channel can be decrypted.
        expect(items.flatMap(({ deliveries }) => deliveries.map(({ status }) => status))).toEqual([
          'delivered',
          'delivered',
        ]);
      });
    });
  });
}

type Spender = Awaited<ReturnType<typeof newSpender>>;

/** A gateway that reserves and settles, in a workspace with a budget. */
async function newSpender(stage: LosableStage, owner: ApiClient) {
  const workspace: TestWorkspace = await newWorkspace(owner);
  const body = { daily_budget_usd_micros: 1_000_000 };
  await owner.expect({ method: 'PUT', path: `/api/v1/workspaces/${workspace.id}/budgets/workspace`, body });

  const call = (method: string, path: string, of?: object) =>
    eventually(async () => {
      const headers = { authorization: `Bearer ${workspace.apiKey}` };
      const answer = await anonymous(stage.target()).call({
        method,
        path: `/api/v1/reservations${path}`,
        body: of,
        headers,
      });
      expect(answer.status).toBeLessThan(500);
      return answer;
    });
  const settle = async ({ reservation, ...settlement }: Settlement): Promise<void> => {
    expect(await call('POST', `/${reservation}:settle`, settlement)).toMatchObject({ status: 200 });
  };
  return {
    async reserve(amount: number): Promise<string> {
      const ids = { request_id: randomUUID(), agent_id: 'spender', run_id: 'run-1' };
      const { body: granted } = await call('POST', '', { ...ids, amount_micros: amount, ttl_seconds: 3_600 });
      return (granted as { reservation: { id: string } }).reservation.id;
    },
    async settle(reservation: string, amount_micros: number): Promise<Settlement> {
      const settlement = { reservation, settlement_id: randomUUID(), amount_micros };
      await settle(settlement);
      return settlement;
    },
    repeat: settle,
    async stateOf(reservation: string): Promise<unknown> {
      const { status, body: found } = await call('GET', `/${reservation}`);
      return status === 200 ? (found as { state: string }).state : status;
    },
    reportUnreserved({ settlement_id, amount_micros }: Settlement) {
      const data = { settlement_id, run_id: 'run-1', agent_id: 'spender', amount_micros };
      return reportEvents(stage.target(), workspace.apiKey, cloudEvent('spend.settled', data));
    },
    /** In limits and on the dashboard. */
    async spent() {
      const { items } = await owner.expect<{ items: { spent_micros: number; held_micros: number }[] }>({
        path: workspace.path('/limits'),
      });
      const { metrics } = await owner.expect<{ metrics: { total_micros: number } }>({
        path: workspace.path('/dashboard/spend?range=1m'),
      });
      return { spent: items[0]?.spent_micros, held: items[0]?.held_micros, counted: metrics.total_micros };
    },
  };
}
