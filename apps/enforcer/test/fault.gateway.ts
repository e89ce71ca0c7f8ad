import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { newId } from '@tollkeeper/kernel';
import {
  accountsOf,
  AGENTS,
  type FaultCall,
  grantableOf,
  hasLimit,
  isMadeLater,
  MODELS,
  nameOf,
  PROVIDERS,
  TEAMS,
  USERS,
} from './fault.budgets.ts';
import type { FaultCalls, LimitNumbers } from './fault.calls.ts';
import type { Chance, FaultRecord } from './fault.record.ts';
import type { FaultWorkspace, FaultWorkspaces } from './fault.workspaces.ts';

/** Maximum number of open reservations of a gateway in a workspace. */
const MAX_OPEN = 20;
/** Long enough not to expire during the run, and the shortest allowed time. */
const LONG_TTL_SECONDS = 3600;
const SHORT_TTL_SECONDS = 10;
/** Time after its end when no replica considers a reservation held. */
const LATE_MS = 1_000;
const MAX_AMOUNT = 1_000;

/** A reservation that its gateway has not ended yet. */
interface Open {
  id: string;
  call: FaultCall;
  amount: number;
  expiresAt: number;
  isShort: boolean;
}

interface FaultGatewayDeps {
  calls: FaultCalls;
  workspaces: FaultWorkspaces;
  record: FaultRecord;
  chance: Chance;
}

/** Gateways that make random calls, compare each answer, and write down what every limit must have in the end. */
export function createFaultGateways({ calls, workspaces, record, chance }: FaultGatewayDeps) {
  const { next: random, below, pick } = chance;
  const { count, problem } = record;
  const { expect, budgets } = workspaces;

  const anyCall = (): FaultCall => ({
    ...{ agentId: pick(AGENTS), planKey: random() < 0.5 ? 'pro' : null, model: pick(MODELS) },
    ...{ provider: pick(PROVIDERS), labels: { team: pick(TEAMS), user: pick(USERS) } },
  });

  /** Every limit that applies must be in the answer. The one that is made later may be. */
  function compareNames({ tenantId }: FaultWorkspace, call: FaultCall, limits: readonly LimitNumbers[]): void {
    const known = (name: string) => hasLimit(name) && !isMadeLater(name);
    const wanted = accountsOf(budgets, tenantId, call).filter(known).sort();
    const found = limits.map(nameOf).filter(known).sort();
    if (!isDeepStrictEqual(found, wanted)) problem(`${found.join(', ')} apply, and must be ${wanted.join(', ')}`);
    if (limits.some((row) => isMadeLater(nameOf(row)) && row.state === 'filling'))
      count('decided while a budget filled');
  }

  async function reserve(workspace: FaultWorkspace, open: Open[]): Promise<void> {
    const isShort = random() < 0.1;
    const ttl = isShort ? SHORT_TTL_SECONDS : LONG_TTL_SECONDS;
    const amount = 1 + below(MAX_AMOUNT);
    const call = anyCall();
    const { agentId, planKey, ...said } = call;
    const asked = {
      ...{ request_id: newId('req'), agent_id: agentId, run_id: 'run-1', amount_micros: amount, ttl_seconds: ttl },
      ...said,
      ...(planKey !== null && { plan_key: planKey }),
    };
    const { status, body, isFirst, askedAt } = await calls.post(workspace, '/reservations', asked);
    if (status === 200 && body.decision === 'denied') {
      count('denied');
      if (body.denial.scope === 'budget') count(`denied by ${body.denial.scope_id}`);
      compareNames(workspace, call, body.limits);
      const { spent_micros: spent, held_micros: held } = body.denial;
      if (spent + held + amount <= grantableOf(budgets, body.denial)) {
        problem(`denied though there is room: ${JSON.stringify(body.denial)}`);
      }
      return;
    }
    if (status !== 201) return problem(`reserve: ${status} ${JSON.stringify(body)}`);
    count('granted');
    const last = record.kills.at(-1);
    if (last !== undefined && last.grantedAfterMs === null && askedAt >= record.startedAt + last.atMs) {
      last.grantedAfterMs = Date.now() - record.startedAt - last.atMs;
    }
    compareNames(workspace, call, body.limits);
    // A repeated answer has the limits of that later time.
    for (const row of isFirst ? body.limits : []) {
      if (row.spent_micros + row.held_micros > grantableOf(budgets, row)) {
        problem(`granted above a limit: ${JSON.stringify(row)}`);
      }
    }
    const { id, expires_at } = body.reservation;
    open.push({ id, call, amount, isShort, expiresAt: Date.parse(expires_at) });
    expect(workspace, call, (expected) => {
      if (isShort) return void (expected.expired += 1);
      expected.held += amount;
      expected.open += 1;
    });
    if (random() < 0.05) {
      const again = await calls.post(workspace, '/reservations', asked);
      count('repeated');
      if (again.status !== 201 || again.body.reservation.id !== id) problem(`repeated: ${JSON.stringify(again)}`);
    }
  }

  /** The actual cost of a call: below, at or above its hold. */
  function costOf(amount: number): number {
    const kind = random();
    if (kind < 0.6) return below(amount + 1);
    return kind < 0.8 ? amount : amount + 1 + below(100);
  }

  async function settle(workspace: FaultWorkspace, { id, amount, call }: Open, isLate: boolean): Promise<void> {
    const cost = costOf(amount);
    const settlement = { settlement_id: newId('stl'), amount_micros: cost };
    expect(workspace, call, (expected) => {
      expected.spent += cost;
      if (isLate) return void (expected.late += cost);
      expected.aboveHold += Math.max(0, cost - amount);
      expected.held -= amount;
      expected.open -= 1;
    });
    const way = random();
    if (way < 0.2) await calls.report(workspace, call, { ...settlement, reservation_id: id });
    if (way >= 0.1) {
      const times = random() < 0.05 ? 2 : 1;
      for (let i = 0; i < times; i += 1) {
        const { status, body } = await calls.post(workspace, `/reservations/${id}:settle`, settlement);
        count(isLate ? 'settled late' : 'settled');
        if (status !== 200 || body.settled_micros !== cost) problem(`settle: ${status} ${JSON.stringify(body)}`);
      }
    }
  }

  async function release(workspace: FaultWorkspace, { id, amount, call }: Open): Promise<void> {
    const { status, body } = await calls.post(workspace, `/reservations/${id}:release`, null);
    count('released');
    if (status !== 200 || body.state !== 'released') problem(`release: ${status} ${JSON.stringify(body)}`);
    expect(workspace, call, (expected) => {
      expected.held -= amount;
      expected.open -= 1;
      expected.released += 1;
    });
  }

  async function extend(workspace: FaultWorkspace, { id }: Open): Promise<void> {
    const { status, body } = await calls.post(workspace, `/reservations/${id}:extend`, {
      ttl_seconds: LONG_TTL_SECONDS,
    });
    count('extended');
    if (status !== 200 || body.state !== 'held') problem(`extend: ${status} ${JSON.stringify(body)}`);
  }

  async function spendUnreserved(workspace: FaultWorkspace): Promise<void> {
    const cost = below(100);
    const call = anyCall();
    await calls.report(workspace, call, { settlement_id: newId('stl'), amount_micros: cost });
    expect(workspace, call, (expected) => {
      expected.spent += cost;
      expected.unreserved += cost;
    });
  }

  async function work(
    workspace: FaultWorkspace,
    held: Map<FaultWorkspace, Open[]>,
    short: [FaultWorkspace, Open][],
  ): Promise<void> {
    let open = held.get(workspace);
    if (open === undefined) held.set(workspace, (open = []));
    const kind = random();
    if (kind < 0.05) return spendUnreserved(workspace);
    if (open.length < MAX_OPEN && (kind < 0.55 || open.length === 0)) {
      await reserve(workspace, open);
      const last = open.at(-1);
      if (last?.isShort === true) short.push([workspace, open.pop()!]);
      return;
    }
    if (kind > 0.95 && open.length > 0) return extend(workspace, pick(open));
    const [one] = open.splice(below(open.length), 1);
    if (one === undefined) return;
    return kind > 0.85 ? release(workspace, one) : settle(workspace, one, false);
  }

  /** A gateway with reservations of its own, so it knows how each must end. Those that expired are settled as well. */
  return async function runGateway(calls: number): Promise<void> {
    const held = new Map<FaultWorkspace, Open[]>();
    const short: [FaultWorkspace, Open][] = [];
    while (record.made < calls || short.length > 0) {
      const [workspace, first] = short[0] ?? [];
      if (workspace !== undefined && first!.expiresAt + LATE_MS < Date.now()) {
        short.shift();
        if (random() < 0.8) await settle(workspace, first!, true);
      } else if (record.made < calls) {
        await work(workspaces.take(), held, short);
      } else {
        await delay(first!.expiresAt + LATE_MS - Date.now() + 1);
      }
    }
  };
}
