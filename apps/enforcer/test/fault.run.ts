import { createFaultCalls } from './fault.calls.ts';
import { compareLimits, type Sums } from './fault.expectations.ts';
import { createFaultGateways } from './fault.gateway.ts';
import { killInTurn, primaryTarget, replicaTarget } from './fault.kills.ts';
import { createChance, createFaultRecord, type FaultRecord } from './fault.record.ts';
import type { Stage } from './fault.stage.ts';
import { type Kill, tablesOf } from './fault.tables.ts';
import { createFaultWorkspaces, type FaultWorkspaces } from './fault.workspaces.ts';

const GATEWAYS = 64;

interface FaultRunOptions {
  calls: number;
  /** Number of kills of replicas and of the primary of MongoDB, evenly distributed over the run. */
  kills: { replica: number; primary: number };
  seed: number;
  onProgress?: (line: string) => void;
}

export interface FaultReport {
  /** The violations, and the state of the replicas then; empty if there are none. */
  problems: string[];
  /** Number of answers by kind. */
  answers: ReadonlyMap<string, number>;
  kills: readonly Pick<Kill, 'what'>[];
  seconds: number;
  /** For docs/faults.md. */
  tables: string;
}

/**
 * Gateways request reservations from three replicas of the enforcer while replicas and the primary of their MongoDB are
 * killed. Each repeats a call until it has an answer. So the final state of each limit is known to the micro.
 */
export async function runFaults(stage: Stage, options: FaultRunOptions): Promise<FaultReport> {
  const { onProgress = () => {} } = options;
  const chance = createChance(options.seed);
  const record = createFaultRecord();
  const { problems, answers, kills, startedAt } = record;
  const workspaces = createFaultWorkspaces(stage, record, chance);
  const calls = createFaultCalls(stage, record, chance, GATEWAYS);
  const runGateway = createFaultGateways({ calls, workspaces, record, chance });

  const onKill = (what: string) => {
    kills.push({ what, atCall: record.made, atMs: Date.now() - startedAt, repeated: 0, grantedAfterMs: null });
    onProgress(`${record.made} calls: kill -9 of ${what}`);
  };
  const ticker = setInterval(
    () => onProgress(`${record.made} calls, ${Math.round((Date.now() - startedAt) / 1000)} s`),
    10_000,
  );
  let seconds: number;
  try {
    const gateways = Array.from({ length: GATEWAYS }, () => runGateway(options.calls));
    const targets = [
      replicaTarget(stage, options.kills.replica, chance.pick),
      primaryTarget(stage, options.kills.primary),
    ];
    await Promise.all([killInTurn(targets, options.calls, () => record.made, onKill), ...gateways]);
    seconds = (Date.now() - startedAt) / 1000;
  } finally {
    clearInterval(ticker);
    calls.close();
  }
  workspaces.changeTheRest();
  onProgress(`${record.made} calls in ${Math.round(seconds)} s; what is in the log is posted now`);

  const sums = await compareAll(stage, workspaces, record);
  if (problems.length > 0) for (const replica of stage.replicas) problems.push(...(await replica.state()));
  return { problems, answers, kills, seconds, tables: tablesOf(record.made, seconds, answers, kills, sums) };
}

async function compareAll(
  { replicas }: Stage,
  { all, budgets }: FaultWorkspaces,
  { problem }: FaultRecord,
): Promise<Sums> {
  let sums: Sums = { limits: 0, over: 0, spent: 0, terms: 0 };
  for (const workspace of all) {
    const { found, sum } = await compareLimits(replicas[0]!.port, budgets, workspace);
    for (const text of found) problem(text);
    sums = {
      limits: sums.limits + sum.limits,
      over: sums.over + sum.over,
      spent: sums.spent + sum.spent,
      terms: sums.terms + sum.terms,
    };
  }
  return sums;
}
