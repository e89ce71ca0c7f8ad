import { setTimeout } from 'node:timers/promises';
import { expect } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import type { ApiClient } from './api.client.ts';
import type { Stage } from './deployment.ts';
import { newWatchedWorkspace, type WatchedWorkspace } from './watched.workspace.ts';

/** Enough that some share a partition of the log with any sender: with six partitions, all but one time in eighty. */
const NEIGHBOURS = 24;
/**
 * Polling more often would load the deployment more than the attack does. The neighbours report and poll one after
 * another in this time, since all at once they would be an attack of their own.
 */
const POLL_MS = 1_000;

/** Other workspaces with a gateway and a rule each. All have reported before. */
export interface Neighbours {
  readonly count: number;
  /**
   * Each reports an event that fires a rule. Resolves once all are counted and their alerts have arrived, to the last
   * times in seconds.
   */
  report(): Promise<{ countedAfterS: number; notifiedAfterS: number }>;
  leave(): void;
}

/** Moves in neighbours that can report this many times. */
export async function moveIn(stage: Stage, owner: ApiClient, reports: number): Promise<Neighbours> {
  const moving = { target: stage.deployment(), owner, receiver: stage.receiver(), alarms: 0, marks: 1 + reports };
  const workspaces = await Promise.all(Array.from({ length: NEIGHBOURS }, () => newWatchedWorkspace(moving)));
  let reported = 0;

  async function report() {
    const nth = reported++;
    const seen = await Promise.all(
      workspaces.map(async (workspace, turn) => {
        await setTimeout((turn * POLL_MS) / NEIGHBOURS);
        return follow(workspace, nth);
      }),
    );
    return {
      countedAfterS: Math.max(...seen.map(({ countedAfterS }) => countedAfterS)),
      notifiedAfterS: Math.max(...seen.map(({ notifiedAfterS }) => notifiedAfterS)),
    };
  }
  await report();
  return {
    count: workspaces.length,
    report,
    leave() {
      for (const { gateway } of workspaces) gateway.close();
    },
  };
}

async function follow(workspace: WatchedWorkspace, nth: number) {
  const start = performance.now();
  const agent = `agent-${nth}`;
  await workspace.mark(agent, nth);
  const elapsedS = (): number => (performance.now() - start) / 1000;
  const at = { counted: 0, notified: 0 };
  await eventually(async () => {
    const sees = await workspace.sees(agent, nth);
    if (sees.counted) at.counted ||= elapsedS();
    if (sees.notified) at.notified ||= elapsedS();
    if (!sees.counted || !sees.notified) await setTimeout(POLL_MS);
    expect(sees).toEqual({ counted: true, registered: true, notified: true });
  });
  return { countedAfterS: at.counted, notifiedAfterS: at.notified };
}
