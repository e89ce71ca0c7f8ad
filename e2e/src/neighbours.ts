import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import { type ApiClient, createClient, logIn } from './api.client.ts';
import type { Stage } from './deployment.ts';
import { atRate } from './load.ts';
import { newWatchedWorkspace, type WatchedWorkspace } from './watched.workspace.ts';
import { newWorkspace, type TestWorkspace } from './workspace.ts';

/** So many that some share a partition of the log with any sender: of six partitions, all but one time in eighty. */
const NEIGHBOURS = 24;
const MARKED_AGENT = 'agent-marked';
const CALLS_PER_SECOND = 4;
const LOGINS_PER_SECOND = 0.5;
const CHANGES_PER_SECOND = 1;
const RESERVATIONS_PER_SECOND = 4;
/** 24 that look more often take more from the deployment than the attack does. */
const POLL_MS = 1_000;

/** Workspaces of others that report one event each, which one of their rules fires with. */
export interface Neighbours {
  readonly count: number;
  /**
   * Reports the events; resolves once all are counted and their alerts have arrived, to when the last was, in seconds.
   */
  report(): Promise<{ countedAfterS: number; notifiedAfterS: number }>;
}

export async function moveIn(stage: Stage, owner: ApiClient): Promise<Neighbours> {
  const moving = { target: stage.deployment(), owner, receiver: stage.receiver(), alarms: 0 };
  const workspaces = await Promise.all(Array.from({ length: NEIGHBOURS }, () => newWatchedWorkspace(moving)));
  return {
    count: workspaces.length,
    async report() {
      const start = performance.now();
      const seen = await Promise.all(workspaces.map((workspace) => follow(workspace, start)));
      return {
        countedAfterS: Math.max(...seen.map(({ countedAfterS }) => countedAfterS)),
        notifiedAfterS: Math.max(...seen.map(({ notifiedAfterS }) => notifiedAfterS)),
      };
    },
  };
}

async function follow(workspace: WatchedWorkspace, start: number) {
  await workspace.mark(MARKED_AGENT);
  const elapsedS = (): number => (performance.now() - start) / 1000;
  const at = { counted: 0, notified: 0 };
  await eventually(async () => {
    const sees = await workspace.sees(MARKED_AGENT);
    if (sees.counted) at.counted ||= elapsedS();
    if (sees.notified) at.notified ||= elapsedS();
    if (!sees.counted || !sees.notified) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    expect(sees).toEqual({ counted: true, registered: true, notified: true });
  });
  workspace.gateway.close();
  return { countedAfterS: at.counted, notifiedAfterS: at.notified };
}

/** What people and gateways got who worked in other workspaces meanwhile. */
export interface Experience {
  calls: number;
  /** What was not answered as it should: the call and its answer. */
  failures: string[];
  slowestMs: number;
  /** How long reservations took, for 95 of 100 of them. */
  reservationP95Ms: number;
}

/** Work in other workspaces that goes on until it is stopped. */
export interface Working {
  /** One reservation, in milliseconds; rejects when it is not granted. */
  reserve(): Promise<number>;
  stop(): Promise<Experience>;
}

/**
 * A gateway that reserves, and people who log in, look at who they are and at their spend, and change a rule, all the
 * time.
 */
export async function startWorking(stage: Stage, owner: ApiClient): Promise<Working> {
  const target = stage.deployment();
  const workspace = await newWorkspace(owner);
  const rule = await createRule(owner, workspace);
  const failures: string[] = [];
  const tookMs: number[] = [];
  const reservationsMs: number[] = [];
  const timed = async (name: string, work: () => Promise<unknown>): Promise<number> => {
    const start = performance.now();
    await work().catch((error: unknown) => failures.push(`${name}: ${String(error)}`));
    const elapsedMs = performance.now() - start;
    tookMs.push(elapsedMs);
    return elapsedMs;
  };
  const paths = ['/api/v1/auth/me', '/api/v1/workspaces', `/w/${target.workspace}/api/v1/dashboard/spend?range=today`];
  let next = 0;
  const gateway = createClient(target, null);
  const reserve = async (): Promise<number> => {
    const start = performance.now();
    await gateway.expect({
      ...{ method: 'POST', path: '/api/v1/reservations', status: 201 },
      headers: { authorization: `Bearer ${workspace.apiKey}` },
      body: { request_id: randomUUID(), agent_id: MARKED_AGENT, run_id: 'run-1', amount_micros: 1 },
    });
    return performance.now() - start;
  };
  const work = [
    atRate(CALLS_PER_SECOND, () => {
      const path = paths[next++ % paths.length] ?? '';
      return timed(path, () => owner.expect({ path }));
    }),
    atRate(LOGINS_PER_SECOND, () => timed('log-in', () => logIn(target, target.owner))),
    atRate(CHANGES_PER_SECOND, () =>
      timed('change of a rule', () =>
        owner.expect({ method: 'PATCH', path: rule, body: { name: `Changed ${next++} times` } }),
      ),
    ),
    atRate(RESERVATIONS_PER_SECOND, async () => void reservationsMs.push(await timed('reservation', reserve))),
  ];
  return {
    reserve,
    async stop() {
      await Promise.all(work.map((part) => part.stop()));
      return {
        ...{ calls: tookMs.length, failures, slowestMs: Math.max(0, ...tookMs) },
        reservationP95Ms: percentile(reservationsMs, 0.95),
      };
    },
  };
}

/** The path of a rule of the workspace that never fires. */
async function createRule(owner: ApiClient, workspace: TestWorkspace): Promise<string> {
  const path = workspace.path('/alerts/rules');
  const body = {
    ...{ name: 'Changed', severity: 'low', scope_type: 'workspace', scope_id: workspace.id },
    ...{ rule_kind: 'event_count_gte', rule_config: { window_seconds: 600, threshold: 1000 } },
  };
  const { id } = await owner.expect<{ id: string }>({ method: 'POST', path, body, status: 201 });
  return `${path}/${id}`;
}

function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * part) - 1] ?? 0;
}
