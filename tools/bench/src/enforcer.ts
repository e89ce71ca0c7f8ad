import { parseArgs } from 'node:util';
import { markdownTable } from '@tollkeeper/testing/markdown-table';
import type { DecisionResult } from './decision.load.ts';
import { reportLeases } from './enforcer.leases.ts';
import {
  type Contender,
  EIGHT_BUDGETS,
  type EnforcerStack,
  MANY_BUDGETS,
  ONE_REPLICA,
  ONE_REPLICA_BATCHES,
  ONE_REPLICA_STREAM,
  RATE_LIMIT,
  REDIS_ALWAYS,
  startEnforcerStack,
  THREE_REPLICAS,
  THREE_REPLICAS_BATCHES,
} from './enforcer.stack.ts';
import { describeMachine } from './machine.ts';
import { cpuSeconds, residentMb } from '@tollkeeper/testing/processor-time';
import { type Pause, type PauseWatch, type TimedCall, watchPauses, withoutPauses } from './machine.pauses.ts';
import { median, percentile, whole } from './statistics.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '4' },
    callers: { type: 'string', default: '64' },
    workspaces: { type: 'string', default: '50' },
    decisions: { type: 'string', default: '1000000' },
    /** A regular expression for the names of the contenders. */
    only: { type: 'string', default: '' },
  },
});
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);
const callers = Number(values.callers);
const workspaces = Number(values.workspaces);
const decisions = Number(values.decisions);

/** A workspace may have 25,000 open reservations, and those of a round stay open until its end. */
const MOST_OF_A_ROUND = 20_000;
const WARM_UP = { callers, seconds: 2, decisions: 10_000 };
const MEMORY_STEPS = 4;
/** Effectively unlimited, but a number that messages between processes can carry. */
const DAY_SECONDS = 86_400;

/** A round of a contender, with processor time in microseconds per decision. */
interface Round extends DecisionResult {
  serviceMicros: number;
  mongodMicros: number;
  callerMicros: number;
}

const stack = await startEnforcerStack(workspaces);
try {
  console.log(`## Enforcer\n\n${describeMachine()}`);
  console.log('- a real Apache Kafka of one broker and a real mongod, all on this machine');
  console.log(stack.redisVersion === null ? '- no redis-server here, so no rows of it' : `- ${stack.redisVersion}`);
  const measured = await measureRates(stack);
  reportRates(measured);
  await reportLeases(stack, { rounds, seconds, callers, only: values.only });
  await reportOneReplica(stack, measured);
} finally {
  await stack.stop();
}

/** Rounds interleave the contenders, each starting with another one, so that noise affects all alike. */
async function measureRates({ contenders: all, mongodPid }: EnforcerStack): Promise<Map<string, Round[]>> {
  const contenders = all.filter(({ name }) => new RegExp(values.only).test(name));
  const measured = new Map<string, Round[]>(contenders.map(({ name }) => [name, []]));
  for (const { callers: each } of contenders) {
    await each.run(WARM_UP);
    await each.free(callers);
  }
  for (let round = 0; round < rounds; round += 1) {
    for (let turn = 0; turn < contenders.length; turn += 1) {
      const contender = contenders[(round + turn) % contenders.length]!;
      const result = await measureRound(contender, mongodPid);
      measured.get(contender.name)!.push(result);
      console.error(`round ${round + 1} of ${rounds}, ${contender.name}: ${whole(result.perSecond)} decisions/s`);
    }
  }
  return measured;
}

async function measureRound(contender: Contender, mongodPid: number): Promise<Round> {
  const { servicePids, usesMongo, callers: each } = contender;
  const usedBy = (pids: number[]) => pids.reduce((total, pid) => total + cpuSeconds(pid), 0);
  const before = { service: usedBy(servicePids), mongod: cpuSeconds(mongodPid) };
  const result = await each.run({ callers, seconds, decisions: MOST_OF_A_ROUND });
  const micros = (spent: number) => (spent / result.decisions) * 1e6;
  const used = {
    serviceMicros: micros(usedBy(servicePids) - before.service),
    mongodMicros: usesMongo ? micros(cpuSeconds(mongodPid) - before.mongod) : 0,
    callerMicros: micros(result.cpuSeconds),
  };
  await each.free(callers);
  return { ...result, ...used };
}

function rateOf(of: readonly Round[]): number {
  return median(of.map(({ perSecond }) => perSecond));
}

function reportRates(measured: Map<string, Round[]>): void {
  const base = measured.get(ONE_REPLICA) ?? [];
  const ratioTo = (of: readonly Round[], to: readonly Round[]) =>
    median(of.map(({ perSecond }, round) => perSecond / (to[round]?.perSecond ?? NaN)));
  const rows = [...measured].map(([name, of]) => [
    name,
    whole(rateOf(of)),
    `${Math.round(ratioTo(of, base) * 100)} %`,
    ...[of.map(({ p50Ms }) => p50Ms), of.map(({ p99Ms }) => p99Ms)].map((times) => median(times).toFixed(1)),
    whole(median(of.map(({ serviceMicros }) => serviceMicros))),
    whole(median(of.map(({ mongodMicros }) => mongodMicros))),
    whole(median(of.map(({ callerMicros }) => callerMicros))),
  ]);
  console.log(
    `- ${callers} callers in one process, each asks again when it has its answer; one workspace with three limits where no other ` +
      `number is given;\n  ${rounds} interleaved rounds of ${seconds} s or ${whole(MOST_OF_A_ROUND)} decisions, medians\n`,
  );
  const used = ['service', 'mongod', 'callers'].map((name) => `CPU µs/decision: ${name}`);
  console.log(markdownTable(['', 'decisions/s', 'of gRPC with 1 replica', 'p50 ms', 'p99 ms', ...used], rows));
  console.log(
    '\nThe service of the edge is gateway and enforcer. Who has no service decides in the process of the callers.\n',
  );
  const always = measured.get(REDIS_ALWAYS);
  const batches = measured.get(ONE_REPLICA_BATCHES) ?? [];
  const stream = measured.get(ONE_REPLICA_STREAM) ?? [];
  const percent = (of: readonly Round[] = [], to: readonly Round[] = []) =>
    of.length > 0 && to.length > 0 ? `${Math.round(ratioTo(of, to) * 100)} %` : 'not measured';
  const goals = [
    ['one replica over gRPC: at least 10,000 decisions/s', `${whole(rateOf(base))}/s`, `${whole(rateOf(batches))}/s`],
    ['one replica over a gRPC stream: at least 10,000 decisions/s', `${whole(rateOf(stream))}/s`, 'not measured'],
    ['one replica over gRPC: not below Redis with `always`', percent(base, always), percent(batches, always)],
    ["Envoy's rate limit service: at least 90 % of gRPC", percent(measured.get(RATE_LIMIT), base), 'not measured'],
    ['eight budgets: at least 90 % of the rate with three', percent(measured.get(EIGHT_BUDGETS), base), 'not measured'],
    [
      'eight of 200 budgets for each of 10,000 users: at most 1.5 times the time of eight',
      percent(measured.get(EIGHT_BUDGETS), measured.get(MANY_BUDGETS)),
      'not measured',
    ],
    [
      'three replicas on one workspace: at least 60 % of one',
      percent(measured.get(THREE_REPLICAS), base),
      percent(measured.get(THREE_REPLICAS_BATCHES), batches),
    ],
  ];
  console.log(markdownTable(['goal', 'call by call', 'in batches'], goals));
}

async function reportOneReplica({ keepOneReplica }: EnforcerStack, measured: Map<string, Round[]>): Promise<void> {
  const { byCall, inBatches, onStream, pid } = await keepOneReplica();
  console.log(`\nOne replica, decisions asked for at half of its rate, ${rounds} rounds:\n`);
  const watch = await watchPauses();
  for (const contender of [byCall, inBatches, onStream]) {
    const of = measured.get(contender.name);
    if (of !== undefined) await reportHalfOfRate(contender, rateOf(of) / 2, watch);
  }
  await watch.stop();
  console.log('\nGoal: p99 below 25 ms at half of its rate, without what the machine itself delayed.\n');
  await reportMemory(byCall, pid);
}

async function reportHalfOfRate({ name, callers: each }: Contender, perSecond: number, watch: PauseWatch) {
  await each.run(WARM_UP);
  await each.free(callers);
  await watch.take();
  const calls: TimedCall[] = [];
  const pauses: Pause[] = [];
  for (let round = 0; round < rounds; round += 1) {
    calls.push(...(await each.run({ callers, seconds, decisions: MOST_OF_A_ROUND, perSecond })).calls);
    pauses.push(...(await watch.take()));
    await each.free(callers);
  }
  const undelayed = withoutPauses(calls, pauses);
  const timesOf = (of: TimedCall[]) =>
    [50, 99].map((p) =>
      percentile(
        of.map(({ tookMs }) => tookMs),
        p,
      ).toFixed(1),
    );
  const [[p50, p99], [undelayed50, undelayed99]] = [timesOf(calls), timesOf(undelayed)];
  const longest = Math.max(0, ...pauses.map(({ from, to }) => to - from));
  console.log(
    `- ${name}: ${whole(perSecond)}/s, p50 ${p50} ms, p99 ${p99} ms; ${pauses.length} pauses of the machine, of up to ` +
      `${longest.toFixed(0)} ms; without the ${whole(calls.length - undelayed.length)} of ${whole(calls.length)} calls that ` +
      `they delayed: p50 ${undelayed50} ms, p99 ${undelayed99} ms`,
  );
}

async function reportMemory({ callers: each }: Contender, pid: number): Promise<void> {
  const step = Math.ceil(decisions / MEMORY_STEPS);
  const rows = [['0', whole(residentMb(pid)), '']];
  for (let done = step; done <= step * MEMORY_STEPS; done += step) {
    const settled = await each.run({ callers, seconds: DAY_SECONDS, decisions: step, settles: true });
    if (settled.decisions !== step) throw new Error(`${settled.decisions} decisions were made, not ${step}`);
    rows.push([whole(done), whole(residentMb(pid)), whole(settled.perSecond)]);
    console.error(`${whole(done)} decisions: ${rows.at(-1)?.[1]} MB`);
  }
  console.log(markdownTable(['decisions, each settled', 'resident MB of the replica', 'decisions/s'], rows));
  console.log('\nGoal: flat.');
}
