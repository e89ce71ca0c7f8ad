import { setTimeout as delay } from 'node:timers/promises';
import { killPrimary, type Stage } from './fault.stage.ts';

/** Called with the name of what is killed, when it is. */
export type OnKill = (what: string) => void;

/** Something that is killed several times in a run. */
interface Target {
  times: number;
  /** When in its part of the run it is killed, above 0 and below 1, so that targets take turns. */
  at: number;
  /** Resolves once it works again. */
  kill(onKill: OnKill): Promise<void>;
}

export function replicaTarget({ replicas }: Stage, times: number, pick: <T>(items: readonly T[]) => T): Target {
  return {
    ...{ times, at: 0.5 },
    async kill(onKill) {
      const one = pick(replicas);
      onKill('a replica of the enforcer');
      await one.kill('SIGKILL');
      await one.restart();
    },
  };
}

export function primaryTarget({ mongo }: Stage, times: number): Target {
  return { times, at: 0.75, kill: (onKill) => killPrimary(mongo, () => onKill('the MongoDB primary')) };
}

/** Kills the targets, evenly distributed over the first nine tenths of the calls. */
export async function killInTurn(
  targets: readonly Target[],
  calls: number,
  made: () => number,
  onKill: OnKill,
): Promise<void> {
  const turns = targets.flatMap(({ times, at, kill }) =>
    Array.from({ length: times }, (_, nth) => ({ kill, at: (nth + at) / times })),
  );
  turns.sort((a, b) => a.at - b.at);
  for (const { kill, at } of turns) {
    while (made() < at * 0.9 * calls) await delay(20);
    await kill(onKill);
  }
}
