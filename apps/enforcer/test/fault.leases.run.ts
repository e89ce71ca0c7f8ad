import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isSpendSettled } from '@tollkeeper/contracts';
import { newId } from '@tollkeeper/kernel';
import { createFaultBook, type FaultBook, type LimitName } from './fault.book.ts';
import { createFaultCalls, type FaultCalls } from './fault.calls.ts';
import { compareFinalState, type FinalStateDeps } from './fault.final.state.ts';
import type { MadeCall } from './fault.journal.ts';
import { killInTurn, type OnKill, primaryTarget, replicaTarget } from './fault.kills.ts';
import type { OpenLease } from './fault.owner.ts';
import { type GatewaySettings, type GatewaySlot, type Granted, startGatewaySlot } from './fault.processes.ts';
import { createRaisedLimits, type RaisedLimits } from './fault.raised.limits.ts';
import { type Chance, createChance, createFaultRecord } from './fault.record.ts';
import type { FaultReport } from './fault.run.ts';
import type { Stage } from './fault.stage.ts';
import { type LeaseKill, tablesOfLeases } from './fault.tables.ts';
import { type FaultWorkspace, zoneInTheMorning } from './fault.workspaces.ts';

interface LeaseFaultOptions {
  /** Of all gateways together. Four of five calls are those of gateways with leases. */
  calls: number;
  /** Gateway processes, half of them with leases. */
  gateways: number;
  /** How long a lease lasts without its gateway. */
  ttlSeconds: number;
  kills: { gateway: number; replica: number; primary: number };
  /** How often a limit is used up, about. */
  raises: number;
  seed: number;
  onProgress?: (line: string) => void;
}

const AGENT_WITH_LIMIT = 'planner';
/** It has no limit of its own, and some of its estimates are too low. */
const CARELESS_AGENT = 'coder';
const PLAN = 'pro';
const MOST_OF_CALL = 1_000;
/** USD micros. */
const MEAN_COST = 350;
/** How many calls of a gateway with leases come with one of a gateway without. */
const LEASED_PER_CALL = 4;
const CALLS_AHEAD = 50;
const TICK_MS = 100;
const PROGRESS_TICKS = 100;
const UNRESERVED_MS = 500;
const GATEWAY = 'a gateway';
/** A renewal that was on its way when its gateway was killed, and the tolerance of clocks. */
const GRACE_MS = 5_000;

/**
 * Processes of gateways with the real client make calls in one workspace, half of them from leases. They, replicas of
 * the enforcer and the primary of MongoDB are killed. Each gateway writes a call down before it settles it. So the
 * final state of each limit is known to the micro, with what a killed process could not settle.
 */
export async function runLeaseFaults(stage: Stage, options: LeaseFaultOptions): Promise<FaultReport> {
  const directory = await mkdtemp(join(tmpdir(), 'tollkeeper-gateways-'));
  const run = new LeaseRun(stage, options, directory);
  try {
    await run.start();
    await run.makeCalls();
    return await run.compare();
  } finally {
    run.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

class LeaseRun {
  readonly #stage: Stage;
  readonly #options: LeaseFaultOptions;
  readonly #directory: string;
  readonly #chance: Chance;
  readonly #record = createFaultRecord();
  readonly #workspace: FaultWorkspace;
  readonly #calls: FaultCalls;
  readonly #book: FaultBook;
  readonly #limits: RaisedLimits;
  readonly #slots: GatewaySlot[] = [];
  readonly #kills: LeaseKill[] = [];
  /** When the gateways of leases were killed. */
  readonly #killedAt = new Map<string, number>();
  /** The amounts of settlements in the event log. */
  readonly #logged = new Map<string, number>();
  #isOver = false;

  constructor(stage: Stage, options: LeaseFaultOptions, directory: string) {
    this.#stage = stage;
    this.#options = options;
    this.#directory = directory;
    const { startedAt, count, problem } = this.#record;
    const chance = createChance(options.seed);
    const { tenantId, apiKey } = stage.issued.issue();
    this.#chance = chance;
    this.#workspace = { tenantId, apiKey, expected: new Map(), callsLeft: 0, areBudgetsChanged: false };
    this.#calls = createFaultCalls(stage, this.#record, chance, options.gateways);
    const post = (path: string, body: object) => this.#calls.post(this.#workspace, path, body);
    this.#book = createFaultBook({ post, limitsOf, count, problem });
    this.#limits = createRaisedLimits({
      ...{ stage, chance, problem, mostOfCall: MOST_OF_CALL },
      workspace: { tenantId, agentId: AGENT_WITH_LIMIT, planKey: PLAN },
      stepMicros: (options.calls * MEAN_COST) / options.raises,
      onOpenLeases: (leases) => this.#checkOpen(leases),
    });
    stage.identity.setTimezone(tenantId, zoneInTheMorning(startedAt));
    stage.readEvents(tenantId, ({ event }) => {
      if (isSpendSettled(event)) this.#logged.set(event.data.settlement_id, event.data.amount_micros);
    });
  }

  async start(): Promise<void> {
    // One after the other, since starting many at once takes all of the machine.
    for (let nth = 0; nth < this.#options.gateways; nth += 1) {
      const settingsOf = (starts: number) => this.#settingsOf(nth, starts);
      this.#slots.push(await startGatewaySlot(settingsOf, (granted) => this.#noteGranted(granted)));
    }
  }

  async makeCalls(): Promise<void> {
    const { calls, kills } = this.#options;
    const targets = [
      { ...{ times: kills.gateway, at: 0.25 }, kill: (onKill: OnKill) => this.#killGateway(onKill) },
      replicaTarget(this.#stage, kills.replica, this.#chance.pick),
      primaryTarget(this.#stage, kills.primary),
    ];
    const made = () => this.#made();
    const untilMade = async () => {
      await killInTurn(targets, calls, made, (what) => this.#noteKill(what));
      while (made() < calls) await delay(TICK_MS);
      this.#isOver = true;
      this.#limits.stop();
    };
    await Promise.all([untilMade(), this.#limits.run(), this.#setThePace(), this.#spendUnreserved()]);
    await Promise.all(this.#slots.map((slot) => slot.end('flush')));
  }

  async compare(): Promise<FaultReport> {
    const { problems, answers, problem, startedAt } = this.#record;
    const seconds = (Date.now() - startedAt) / 1000;
    this.#progress('settling what killed gateways could not, and comparing');
    for (const { journal } of this.#slots) {
      const { unanswered } = await this.#book.read(journal);
      for (const { settlementId } of unanswered) problem(`${settlementId} was flushed without an answer`);
    }
    const lost = await this.#settleLost();
    const { tenantId } = this.#workspace;
    const deps: FinalStateDeps = {
      ...{ stage: this.#stage, tenantId, limitsOf, sums: this.#book.sums, limits: this.#limits.limits },
    };
    const open = await compareFinalState(deps, true);
    this.#checkOpen(open.leases);
    await Promise.all(this.#slots.map((slot) => slot.end('close')));
    const { rows, problems: last } = await compareFinalState(deps, false);
    problems.push(...open.problems, ...last);
    if (problems.length > 0) for (const replica of this.#stage.replicas) problems.push(...(await replica.state()));
    const { unused, limits } = this.#limits;
    const tables = tablesOfLeases({ seconds, answers, kills: this.#kills, lost, unused, rows, limits });
    return { problems, answers, kills: this.#kills, seconds, tables };
  }

  stop(): void {
    this.#isOver = true;
    this.#limits.stop();
    for (const slot of this.#slots) slot.stop();
    this.#calls.close();
  }

  #settingsOf(nth: number, starts: number): GatewaySettings {
    const name = `gateway-${nth}-${starts}`;
    return {
      ...{ name, apiKey: this.#workspace.apiKey, ports: this.#stage.replicas.map(({ port }) => port) },
      leases: nth % 2 === 0 ? { ttlSeconds: this.#options.ttlSeconds } : null,
      ...{ agents: [AGENT_WITH_LIMIT, CARELESS_AGENT], careless: CARELESS_AGENT, planKey: PLAN },
      ...{ maxMicros: MOST_OF_CALL, seed: this.#chance.below(2 ** 31) },
      journal: join(this.#directory, `${name}.jsonl`),
    };
  }

  #made(): number {
    return this.#slots.reduce((sum, slot) => sum + slot.made(), 0);
  }

  #progress(text: string): void {
    const seconds = Math.round((Date.now() - this.#record.startedAt) / 1000);
    this.#options.onProgress?.(`${this.#made()} calls, ${seconds} s: ${text}`);
  }

  #noteKill(what: string): void {
    this.#kills.push({ what, atCall: this.#made(), at: Date.now(), grantedAfterMs: null, unsettled: null });
    this.#progress(`kill -9 of ${what}`);
  }

  #noteGranted({ askedAt, at }: Granted): void {
    const last = this.#kills.at(-1);
    if (last !== undefined && last.grantedAfterMs === null && askedAt >= last.at) last.grantedAfterMs = at - last.at;
  }

  /** In turn, one with leases and one without. */
  async #killGateway(onKill: OnKill): Promise<void> {
    const killed = this.#kills.filter(({ what }) => what.startsWith(GATEWAY)).length;
    const slot = this.#chance.pick(this.#slots.filter(({ hasLeases }) => hasLeases === (killed % 2 === 0)));
    onKill(`${GATEWAY} ${slot.hasLeases ? 'with' : 'without'} leases`);
    const kill = this.#kills.at(-1)!;
    const { unanswered, leaseIds } = await this.#book.read(await slot.kill());
    for (const id of leaseIds) this.#killedAt.set(id, kill.at);
    // Reservations are still open when their gateway has started again.
    if (slot.hasLeases) kill.unsettled = unanswered;
    else await this.#book.settleAgain(unanswered);
  }

  #checkOpen(leases: readonly OpenLease[]): void {
    const now = Date.now();
    for (const { id, expires_at: expiresAt } of leases) {
      const end = Date.parse(expiresAt);
      const latest = (this.#killedAt.get(id) ?? Infinity) + this.#options.ttlSeconds * 1000 + GRACE_MS;
      if (end > latest)
        this.#record.problem(`${id} ends ${end - latest} ms too late for its gateway, which was killed`);
      if (end + GRACE_MS < now) this.#record.problem(`${id} is open ${now - end} ms after its end`);
    }
  }

  /** Gateways with leases would leave the others behind, and make all of the calls. */
  async #setThePace(): Promise<void> {
    const asking = this.#slots.filter(({ hasLeases }) => !hasLeases);
    for (let ticks = 1; !this.#isOver; ticks += 1) {
      const pace = asking.reduce((sum, slot) => sum + slot.made(), 0) / asking.length;
      const leased = Math.floor(pace * LEASED_PER_CALL) + CALLS_AHEAD;
      for (const slot of this.#slots) slot.allow(slot.hasLeases ? leased : Number.MAX_SAFE_INTEGER);
      if (ticks % PROGRESS_TICKS === 0) this.#progress(`${this.#limits.unused.length} raises`);
      await delay(TICK_MS);
    }
  }

  async #spendUnreserved(): Promise<void> {
    const facts = { model: 'large-1', provider: 'acme', labels: { team: 'growth', user: 'Ann' } };
    const call = { agentId: CARELESS_AGENT, planKey: PLAN };
    while (!this.#isOver) {
      const settlement = { settlement_id: newId('stl'), amount_micros: 1 + this.#chance.below(100) };
      await this.#calls.report(this.#workspace, { ...call, ...facts }, settlement);
      this.#book.unreserved(settlement.settlement_id, call, settlement.amount_micros);
      await delay(UNRESERVED_MS);
    }
  }

  /**
   * Settles what killed gateways could not. Whatever else gateways settled is in the log by now, and in the end nothing
   * is there that they did not. Returns the settlements that a kill had cost.
   */
  async #settleLost(): Promise<MadeCall[]> {
    const { problem } = this.#record;
    const { tenantId } = this.#workspace;
    const { micros } = this.#book;
    const unsettled = this.#kills.flatMap((kill) => kill.unsettled ?? []);
    await this.#stage.caughtUp(tenantId);
    const lost = unsettled.filter(({ settlementId }) => !this.#logged.has(settlementId));
    const notLogged = [...micros.keys()].filter((id) => !this.#logged.has(id));
    const missing = notLogged.length - lost.length;
    if (missing !== 0) problem(`${missing} settlements were answered and are not in the log`);
    await this.#book.settleAgain(unsettled);
    await this.#stage.caughtUp(tenantId);
    for (const [id, amount] of micros) if (this.#logged.get(id) !== amount) problem(`${id} is not in the log`);
    if (this.#logged.size !== micros.size) problem(`${this.#logged.size} settlements in the log, not ${micros.size}`);
    return lost;
  }
}

/** The limits in which a call counts. */
function limitsOf({ agentId, planKey }: Pick<MadeCall, 'agentId' | 'planKey'>): LimitName[] {
  return [
    'workspace',
    ...(agentId === AGENT_WITH_LIMIT ? (['agent'] as const) : []),
    ...(planKey === PLAN ? (['plan'] as const) : []),
  ];
}
