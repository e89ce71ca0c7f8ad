import { Agent, request as httpRequest } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { encodeGatewayEvent, GATEWAY_EVENTS_TOPIC } from '@tollkeeper/contracts';
import type { EventLog } from '@tollkeeper/event-log';
import { newId, type TenantId } from '@tollkeeper/kernel';
import { compareLimits, type Expected, type Sums } from './fault.expectations.ts';
import { killPrimary, type LogKind, type Stage, startStage } from './fault.stage.ts';
import { type Kill, tablesOf } from './fault.tables.ts';

const CALLERS = 16;
/** Number of workspaces in use at a time. With one, all callers and replicas compete for one journal. */
const WORKSPACES = 1;
/** Number of calls per workspace. About half of them use up its limits. */
const CALLS_OF_WORKSPACE = 500;
/** Maximum number of open reservations of a caller in a workspace. */
const MAX_OPEN = 20;
/** Long enough not to expire during the run, and the shortest allowed time. */
const LONG_TTL_SECONDS = 3600;
const SHORT_TTL_SECONDS = 10;
const MAX_AMOUNT = 1_000;
const LIMITS = { workspace: 60_000, agent: 25_000, plan: 30_000 };
const AGENTS = ['planner', 'coder', 'reviewer'];
/** Time until a call without an answer is aborted and repeated. */
const ANSWER_TIMEOUT_MS = 10_000;
const REPEAT_MS = 50;
/** Time until a call without an answer counts as failed for good. */
const PATIENCE_MS = 180_000;

export interface FaultRunOptions {
  calls: number;
  /** Number of kills of replicas and of the primary of MongoDB, evenly distributed over the run. */
  kills: { replica: number; primary: number };
  seed: number;
  log: LogKind;
  onProgress?: (line: string) => void;
}

export interface FaultReport {
  /** The violations, and the state of the replicas then; empty if there are none. */
  problems: string[];
  /** Number of answers by kind. */
  answers: ReadonlyMap<string, number>;
  kills: readonly Kill[];
  seconds: number;
  /** For docs/faults.md. */
  tables: string;
}

interface Workspace {
  tenantId: TenantId;
  apiKey: string;
  /** By `scope scopeId`. */
  expected: Map<string, Expected>;
  callsLeft: number;
}

/** The data of an event of settled spend. */
interface Settled {
  settlement_id: string;
  run_id: string;
  agent_id: string;
  amount_micros: number;
  plan_key?: string;
  reservation_id?: string;
}

/** The parts of answers that callers read. */
interface AnswerBody {
  decision: string;
  denial: LimitNumbers;
  limits: LimitNumbers[];
  reservation: { id: string; expires_at: string };
  state: string;
  settled_micros: number;
}
interface LimitNumbers {
  spent_micros: number;
  held_micros: number;
  daily_budget_usd_micros: number;
}

/** A reservation that its caller has not ended yet. */
interface Open {
  id: string;
  agentId: string;
  planKey: string | null;
  amount: number;
  expiresAt: number;
  isShort: boolean;
}

/**
 * Callers request reservations from three replicas of the enforcer while replicas and the primary of their MongoDB are
 * killed. Each caller repeats a call until it has an answer. So the final state of each limit is known to the micro.
 */
export async function runFaults({ onProgress = () => {}, ...options }: FaultRunOptions): Promise<FaultReport> {
  const stage = await startStage(options.log);
  try {
    return await drive(stage, { ...options, onProgress });
  } finally {
    await stage.stop();
  }
}

async function drive(stage: Stage, options: Required<FaultRunOptions>): Promise<FaultReport> {
  const { calls, onProgress } = options;
  const { budgets, identity, issued, eventLog, replicas } = stage;
  const random = createRandom(options.seed);
  const agent = new Agent({ keepAlive: true, maxSockets: CALLERS });
  const problems: string[] = [];
  const answers = new Map<string, number>();
  const kills: Kill[] = [];
  const all: Workspace[] = [];
  const active: Workspace[] = [];
  let made = 0;
  const startedAt = Date.now();
  const timezone = zoneInTheMorning(startedAt);

  const below = (max: number) => Math.floor(random() * max);
  const pick = <T>(items: readonly T[]): T => items[below(items.length)]!;
  const count = (kind: string) => answers.set(kind, (answers.get(kind) ?? 0) + 1);
  const problem = (text: string) => void (problems.length < 100 && problems.push(text));

  function newWorkspace(): Workspace {
    const { tenantId, apiKey } = issued.issue();
    identity.setTimezone(tenantId, timezone);
    budgets.setWorkspace(tenantId, LIMITS.workspace);
    // The third agent has no limit.
    for (const agentId of AGENTS.slice(0, 2)) budgets.setAgent(tenantId, agentId, LIMITS.agent);
    budgets.setPlan(tenantId, 'pro', LIMITS.plan);
    const workspace = { tenantId, apiKey, expected: new Map<string, Expected>(), callsLeft: CALLS_OF_WORKSPACE };
    all.push(workspace);
    return workspace;
  }

  function takeWorkspace(): Workspace {
    const index = below(WORKSPACES);
    let workspace = active[index];
    if (workspace === undefined || workspace.callsLeft <= 0) active[index] = workspace = newWorkspace();
    return workspace;
  }

  function expect(
    workspace: Workspace,
    { agentId, planKey }: { agentId: string; planKey: string | null },
    change: (expected: Expected) => void,
  ): void {
    const names = [
      `workspace ${workspace.tenantId}`,
      `agent ${agentId}`,
      ...(planKey === null ? [] : [`plan ${planKey}`]),
    ];
    for (const name of names) {
      let expected = workspace.expected.get(name);
      if (expected === undefined) {
        expected = { spent: 0, held: 0, open: 0, aboveHold: 0, late: 0, unreserved: 0, released: 0, expired: 0 };
        workspace.expected.set(name, expected);
      }
      change(expected);
    }
  }

  function send(port: number, { apiKey }: Workspace, path: string, body: object | null) {
    return new Promise<{ status: number; body: AnswerBody }>((resolve, reject) => {
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

  /** Asks any replica until one answers. `isFirst`: the first attempt was answered, so nothing had been done before. */
  async function call(workspace: Workspace, below: string, body: object | null) {
    made += 1;
    workspace.callsLeft -= 1;
    const askedAt = Date.now();
    for (let attempt = 0; ; attempt += 1) {
      const answer = await send(pick(replicas).port, workspace, `/api/v1/reservations${below}`, body).catch(() => null);
      if (answer !== null && answer.status !== 503) return { ...answer, isFirst: attempt === 0, askedAt };
      count(answer === null ? 'no answer' : '503');
      const last = kills.at(-1);
      if (last !== undefined) last.repeated += 1;
      if (Date.now() - askedAt > PATIENCE_MS) throw new Error(`no answer to ${below} for too long`);
      await delay(REPEAT_MS);
    }
  }

  /** Appends settled spend to the log, as ingest does, sometimes twice. */
  async function report(workspace: Workspace, data: Settled): Promise<void> {
    made += 1;
    workspace.callsLeft -= 1;
    const now = new Date().toISOString();
    const event = {
      ...{ specversion: '1.0' as const, id: `evt-${data.settlement_id}`, source: '/gateways/faults' },
      ...{ type: 'spend.settled' as const, time: now, data },
    };
    const record = encodeGatewayEvent({ tenantId: workspace.tenantId, receivedAt: now, event });
    for (let times = random() < 0.1 ? 2 : 1; times > 0; times -= 1) {
      while (!(await append(eventLog, record))) await delay(REPEAT_MS);
    }
    count('events');
  }

  async function reserve(workspace: Workspace, open: Open[]): Promise<void> {
    const isShort = random() < 0.1;
    const ttl = isShort ? SHORT_TTL_SECONDS : LONG_TTL_SECONDS;
    const amount = 1 + below(MAX_AMOUNT);
    const agentId = pick(AGENTS);
    const planKey = random() < 0.5 ? 'pro' : null;
    const asked = {
      ...{ request_id: newId('req'), agent_id: agentId, run_id: 'run-1', amount_micros: amount, ttl_seconds: ttl },
      ...(planKey !== null && { plan_key: planKey }),
    };
    const { status, body, isFirst, askedAt } = await call(workspace, '', asked);
    if (status === 200 && body.decision === 'denied') {
      count('denied');
      const { spent_micros: spent, held_micros: held, daily_budget_usd_micros: limit } = body.denial;
      if (spent + held + amount <= limit) problem(`denied though there is room: ${JSON.stringify(body.denial)}`);
      return;
    }
    if (status !== 201) return problem(`reserve: ${status} ${JSON.stringify(body)}`);
    count('granted');
    const last = kills.at(-1);
    if (last !== undefined && last.grantedAfterMs === null && askedAt >= startedAt + last.atMs) {
      last.grantedAfterMs = Date.now() - startedAt - last.atMs;
    }
    // A repeated answer has the limits of that later time.
    for (const row of isFirst ? body.limits : []) {
      const { spent_micros: spent, held_micros: held, daily_budget_usd_micros: limit } = row;
      if (spent + held > limit) problem(`granted above a limit: ${JSON.stringify(row)}`);
    }
    const { id, expires_at } = body.reservation;
    open.push({ id, agentId, planKey, amount, isShort, expiresAt: Date.parse(expires_at) });
    expect(workspace, { agentId, planKey }, (expected) => {
      if (isShort) return void (expected.expired += 1);
      expected.held += amount;
      expected.open += 1;
    });
    if (random() < 0.05) {
      const again = await call(workspace, '', asked);
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

  async function settle(workspace: Workspace, { id, amount, ...posting }: Open, isLate: boolean): Promise<void> {
    const cost = costOf(amount);
    const settlement = { settlement_id: newId('stl'), amount_micros: cost };
    const event = {
      ...settlement,
      ...{ agent_id: posting.agentId, run_id: 'run-1', reservation_id: id },
      ...(posting.planKey !== null && { plan_key: posting.planKey }),
    };
    expect(workspace, posting, (expected) => {
      expected.spent += cost;
      if (isLate) return void (expected.late += cost);
      expected.aboveHold += Math.max(0, cost - amount);
      expected.held -= amount;
      expected.open -= 1;
    });
    const way = random();
    if (way < 0.2) await report(workspace, event);
    if (way >= 0.1) {
      const times = random() < 0.05 ? 2 : 1;
      for (let i = 0; i < times; i += 1) {
        const { status, body } = await call(workspace, `/${id}:settle`, settlement);
        count(isLate ? 'settled late' : 'settled');
        if (status !== 200 || body.settled_micros !== cost) problem(`settle: ${status} ${JSON.stringify(body)}`);
      }
    }
  }

  async function release(workspace: Workspace, { id, amount, ...posting }: Open): Promise<void> {
    const { status, body } = await call(workspace, `/${id}:release`, null);
    count('released');
    if (status !== 200 || body.state !== 'released') problem(`release: ${status} ${JSON.stringify(body)}`);
    expect(workspace, posting, (expected) => {
      expected.held -= amount;
      expected.open -= 1;
      expected.released += 1;
    });
  }

  async function extend(workspace: Workspace, { id }: Open): Promise<void> {
    const { status, body } = await call(workspace, `/${id}:extend`, { ttl_seconds: LONG_TTL_SECONDS });
    count('extended');
    if (status !== 200 || body.state !== 'held') problem(`extend: ${status} ${JSON.stringify(body)}`);
  }

  async function spendUnreserved(workspace: Workspace): Promise<void> {
    const cost = below(100);
    const posting = { agentId: pick(AGENTS), planKey: random() < 0.5 ? 'pro' : null };
    await report(workspace, {
      ...{ settlement_id: newId('stl'), amount_micros: cost, agent_id: posting.agentId, run_id: 'run-1' },
      ...(posting.planKey !== null && { plan_key: posting.planKey }),
    });
    expect(workspace, posting, (expected) => {
      expected.spent += cost;
      expected.unreserved += cost;
    });
  }

  /** A gateway with reservations of its own, so it knows how each must end. */
  async function caller(): Promise<void> {
    const held = new Map<Workspace, Open[]>();
    const short: [Workspace, Open][] = [];
    while (made < calls) {
      const [workspace, first] = short[0] ?? [];
      // A second later, no replica considers it held.
      if (workspace !== undefined && first!.expiresAt + 1_000 < Date.now()) {
        short.shift();
        if (random() < 0.8) await settle(workspace, first!, true);
        continue;
      }
      await work(takeWorkspace(), held, short);
    }
  }

  async function work(workspace: Workspace, held: Map<Workspace, Open[]>, short: [Workspace, Open][]): Promise<void> {
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

  async function killInTurn(): Promise<void> {
    const { replica, primary } = options.kills;
    const turns = [
      ...Array.from({ length: replica }, (_, i) => ({ what: 'replica', at: (i + 0.5) / replica })),
      ...Array.from({ length: primary }, (_, i) => ({ what: 'primary', at: (i + 0.75) / primary })),
    ];
    turns.sort((a, b) => a.at - b.at);
    for (const { what, at } of turns) {
      while (made < at * 0.9 * calls) await delay(20);
      const onKill = (name: string) => {
        kills.push({ what: name, atCall: made, atMs: Date.now() - startedAt, repeated: 0, grantedAfterMs: null });
        onProgress(`${made} calls: kill -9 of ${name}`);
      };
      if (what === 'replica') {
        const one = pick(replicas);
        onKill('a replica of the enforcer');
        await one.kill('SIGKILL');
        await one.restart();
      } else {
        await killPrimary(stage.mongo, () => onKill('the MongoDB primary'));
      }
    }
  }

  const ticker = setInterval(
    () => onProgress(`${made} calls, ${Math.round((Date.now() - startedAt) / 1000)} s`),
    10_000,
  );
  let seconds: number;
  try {
    await Promise.all([killInTurn(), ...Array.from({ length: CALLERS }, caller)]);
    seconds = (Date.now() - startedAt) / 1000;
  } finally {
    clearInterval(ticker);
    agent.destroy();
  }
  onProgress(`${made} calls in ${Math.round(seconds)} s; what is in the log is posted now`);

  let sums: Sums = { limits: 0, over: 0, spent: 0, terms: 0 };
  for (const workspace of all) {
    const { found, sum } = await compareLimits(replicas[0]!.port, workspace);
    for (const text of found) problem(text);
    sums = {
      limits: sums.limits + sum.limits,
      over: sums.over + sum.over,
      spent: sums.spent + sum.spent,
      terms: sums.terms + sum.terms,
    };
  }
  if (problems.length > 0) for (const replica of replicas) problems.push(...(await replica.state()));
  return { problems, answers, kills, seconds, tables: tablesOf(made, seconds, answers, kills, sums) };
}

async function append(eventLog: EventLog, record: ReturnType<typeof encodeGatewayEvent>): Promise<boolean> {
  return eventLog.append(GATEWAY_EVENTS_TOPIC, [record]).then(
    () => true,
    () => false,
  );
}

/** A time zone where it is between 6 and 7 a.m.: the limits of a run must be those of one day. */
function zoneInTheMorning(now: number): string {
  const ahead = ((6 - new Date(now).getUTCHours() + 36) % 24) - 12;
  // These zones have POSIX signs, which are reversed.
  return `Etc/GMT${ahead < 0 ? '+' : '-'}${Math.abs(ahead)}`;
}

/** Random numbers, the same for the same seed (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
