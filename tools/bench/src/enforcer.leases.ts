import { NODE_FLAGS } from '@tollkeeper/fleet';
import { markdownTable } from '@tollkeeper/testing/markdown-table';
import { cpuSeconds } from '@tollkeeper/testing/processor-time';
import type { DeciderSettings } from './deciders/decider.settings.ts';
import { type Contender, type EnforcerStack, startCallers } from './enforcer.stack.ts';
import type { LeaseLoad, LeaseResult } from './lease.load.ts';
import { askServer, startServer } from './server.process.ts';
import { median, whole } from './statistics.ts';

/** Gateway processes on one workspace. */
const MANY = 16;
/** Below the number of settlements that a client lets wait, since it reserves call by call beyond it. */
const DECISIONS = 80_000;
const WARM_UP = { seconds: 2, decisions: 5_000 };

export interface LeaseBenchOptions {
  rounds: number;
  seconds: number;
  callers: number;
  /** A regular expression for the names of the ways. */
  only: string;
}

/** A round of a way, over all of its gateways. */
interface Round {
  decisions: number;
  perSecond: number;
  settledPerSecond: number;
  p50Micros: number;
  p99Micros: number;
  byCall: number;
  cpuMicros: { gateways: number; service: number; mongod: number; kafka: number };
}

/** Processes of gateways that decide in one way. */
interface Gateways {
  name: string;
  pids: number[];
  servicePids: number[];
  run(load: LeaseLoad): Promise<LeaseResult[]>;
  /** Releases what is still reserved. */
  free(): Promise<unknown>;
  stop(): Promise<unknown>;
}

/** Compares gateways that decide from leases, alone and together, with as many that ask Redis. */
export async function reportLeases(stack: EnforcerStack, options: LeaseBenchOptions): Promise<void> {
  const { rounds, seconds, only } = options;
  const rows: string[][] = [];
  for (const [name, start] of waysOf(stack, options)) {
    if (!new RegExp(only).test(name)) continue;
    const gateways = await start();
    try {
      await gateways.run(WARM_UP);
      const measured: Round[] = [];
      while (measured.length < rounds) {
        measured.push(await measureRound(stack, gateways, seconds));
        await gateways.free();
      }
      rows.push(rowOf(name, measured));
      console.error(`${name}: ${rows.at(-1)?.[1]} decisions/s`);
    } finally {
      await gateways.stop();
    }
  }
  if (rows.length === 0) return;
  console.log(
    `\nGateways that decide from leases: each call is settled at once, through the edge. Rounds of ${seconds} s or ` +
      `${whole(DECISIONS)} decisions, medians of ${rounds}.\n`,
  );
  const used = ['gateways', 'service', 'mongod', 'Kafka', 'all'].map((name) => `CPU µs/call: ${name}`);
  console.log(markdownTable(['', 'decisions/s', 'p50 µs', 'p99 µs', 'settled/s', 'asked call by call', ...used], rows));
  console.log(
    '\nGoals: one gateway at least 300,000 decisions/s with p99 below 50 µs and 25 µs/call in all; 16 ahead of Redis.\n' +
      'Redis settles nothing, so its processor time is for decisions alone.',
  );
}

function waysOf(stack: EnforcerStack, { callers }: LeaseBenchOptions): [string, () => Promise<Gateways>][] {
  const ways: [string, () => Promise<Gateways>][] = [];
  for (const contender of stack.contenders) {
    const { name, settings } = contender;
    if (settings.kind === 'edge') {
      for (const count of [1, MANY]) {
        const many = count === 1 ? '1 gateway' : `${count} gateways`;
        ways.push([`leases, ${many}`, () => startLeaseGateways(many, count, contender, settings)]);
      }
    }
    if (settings.kind === 'redis') {
      ways.push([`${name}, ${MANY} gateways`, () => startRedisGateways(contender, callers)]);
    }
  }
  return ways;
}

async function startLeaseGateways(
  name: string,
  count: number,
  { servicePids }: Contender,
  { baseUrl, apiKey }: Extract<DeciderSettings, { kind: 'edge' }>,
): Promise<Gateways> {
  const env = { TOLLKEEPER_URL: baseUrl, TOLLKEEPER_KEY: apiKey };
  const started = await startAll(count, () => startServer('lease.worker.ts', env, NODE_FLAGS));
  return {
    ...{ name, servicePids, pids: started.map(({ process: { pid = 0 } }) => pid) },
    run: ({ seconds, decisions }) => {
      const load = { seconds, decisions: Math.ceil(decisions / count) };
      return Promise.all(started.map(async (server) => (await askServer(server, load)) as LeaseResult));
    },
    free: async () => undefined,
    stop: () => Promise.all(started.map((server) => server.stop())),
  };
}

async function startRedisGateways({ name, settings, servicePids }: Contender, callers: number): Promise<Gateways> {
  const started = await startAll(MANY, () => startCallers(settings));
  return {
    ...{ name, servicePids, pids: started.map(({ pid }) => pid) },
    async run({ seconds, decisions }) {
      const load = { callers, seconds, decisions: Math.ceil(decisions / MANY) };
      const results = await Promise.all(started.map((each) => each.run(load)));
      return results.map(({ decisions: made, perSecond, p50Ms, p99Ms }) => ({
        ...{ decisions: made, byCall: made, decidedSeconds: made / perSecond, settledSeconds: NaN },
        ...{ p50Micros: p50Ms * 1_000, p99Micros: p99Ms * 1_000 },
      }));
    },
    free: () => Promise.all(started.map((each) => each.free(callers))),
    stop: () => Promise.all(started.map((each) => each.stop())),
  };
}

/** One after the other, since starting many at once takes all of the machine. */
async function startAll<T>(count: number, start: () => Promise<T>): Promise<T[]> {
  const started: T[] = [];
  while (started.length < count) started.push(await start());
  return started;
}

async function measureRound(
  { mongodPid, kafkaPid }: EnforcerStack,
  { pids, servicePids, run }: Gateways,
  seconds: number,
): Promise<Round> {
  const usedBy = (of: number[]) => of.reduce((total, pid) => total + (pid === 0 ? 0 : cpuSeconds(pid)), 0);
  const parts = { gateways: pids, service: servicePids, mongod: [mongodPid], kafka: [kafkaPid] };
  const before = Object.values(parts).map(usedBy);
  const results = await run({ seconds, decisions: DECISIONS });
  const total = (of: (result: LeaseResult) => number) => results.reduce((sum, result) => sum + of(result), 0);
  const decisions = total((result) => result.decisions);
  const micros = Object.values(parts).map((of, index) => ((usedBy(of) - before[index]!) / decisions) * 1e6);
  const [gateways = 0, service = 0, mongod = 0, kafka = 0] = micros;
  return {
    decisions,
    perSecond: total((result) => result.decisions / result.decidedSeconds),
    settledPerSecond: decisions / Math.max(...results.map((result) => result.settledSeconds)),
    p50Micros: median(results.map((result) => result.p50Micros)),
    p99Micros: median(results.map((result) => result.p99Micros)),
    byCall: total((result) => result.byCall),
    cpuMicros: { gateways, service, mongod, kafka },
  };
}

function rowOf(name: string, rounds: Round[]): string[] {
  const of = (value: (round: Round) => number) => median(rounds.map(value));
  const used = (['gateways', 'service', 'mongod', 'kafka'] as const).map((part) =>
    of((round) => round.cpuMicros[part]),
  );
  const settled = of((round) => round.settledPerSecond);
  return [
    name,
    whole(of((round) => round.perSecond)),
    of((round) => round.p50Micros).toFixed(1),
    of((round) => round.p99Micros).toFixed(1),
    Number.isNaN(settled) ? '' : whole(settled),
    whole(of((round) => round.byCall)),
    ...[...used, used.reduce((sum, each) => sum + each, 0)].map((micros) => micros.toFixed(1)),
  ];
}
