import { expect } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import type { ApiClient } from './api.client.ts';
import type { Stage } from './deployment.ts';
import { newWatchedWorkspace, type WatchedWorkspace } from './watched.workspace.ts';

/** Enough that some share a partition of the log with any sender: with six partitions, all but one time in eighty. */
const NEIGHBOURS = 24;
const MARKED_AGENT = 'agent-marked';
/** Polling more often would load the deployment more than the attack does. */
const POLL_MS = 1_000;

/** Other workspaces, each of which reports one event that fires a rule. */
export interface Neighbours {
  readonly count: number;
  /** Reports the events. Resolves once all are counted and their alerts have arrived, to the last times in seconds. */
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
