import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type ApiClient, logIn } from '../api.client.ts';
import { type AttackRow, formatAttackTable } from '../attack.table.ts';
import type { Answers, Sender } from '../attacks/attack.ts';
import { ATTACKS } from '../attacks/attacks.ts';
import type { Stage } from '../deployment.ts';
import { type WatchedProcess, watchMemory } from '../memory.watch.ts';
import { limitMemory } from '../memory.cgroup.ts';
import { moveIn, type Neighbours } from '../neighbours.ts';
import { startWorking } from '../working.ts';
import { newMember, newWorkspace } from '../workspace.ts';

/** Nothing that one sender does may stop others. Prints what the others noticed at the end. */
export function describeOneSender(
  stage: Stage,
  processes: () => readonly WatchedProcess[],
  /** Memory limits of processes, in bytes by name; processes that are not named have none. */
  limits: Readonly<Record<string, number>> = {},
): void {
  const rows: AttackRow[] = [];
  let owner: ApiClient;
  let neighbours: Neighbours;
  let removeLimits: () => Promise<void> = () => Promise.resolve();

  beforeAll(async () => {
    removeLimits = await limitMemory(processes(), limits);
    owner = await logIn(stage.deployment(), stage.deployment().owner);
    // Another person, because one person may be in at most 100 workspaces.
    const neighbour = await newMember(stage.deployment(), owner, await newWorkspace(owner), 'owner');
    neighbours = await moveIn(stage, neighbour, ATTACKS.length);
  });

  afterAll(async () => {
    neighbours.leave();
    process.stdout.write(`\n${formatAttackTable(rows)}\n`);
    await removeLimits();
  });

  async function newSender(): Promise<Sender> {
    const target = stage.deployment();
    const workspace = await newWorkspace(owner);
    return { target, workspace, more: [], session: await newMember(target, owner, workspace, 'owner') };
  }

  it.each(ATTACKS)(
    'others are answered, counted and notified, and memory stays bounded, during $name',
    async ({ name, prepare, strike }) => {
      const sender = await newSender();
      await prepare?.(sender);
      const memory = watchMemory(processes());
      const working = await startWorking(stage, owner);

      // Also after a failure, because watchers that continue would hide its cause.
      const watched = () => Promise.all([working.stop(), memory.stop()]);

      const reporting = neighbours.report();
      const struck = strike(sender, reporting).then(async (answers) => ({
        answers,
        recoveredAfterS: await working.recovered(),
      }));
      const [{ answers, recoveredAfterS }, reported] = await Promise.all([struck, reporting]).finally(watched);
      const [{ failures, ...experience }, peaks] = await watched();

      rows.push({
        ...{ attack: name, answers: listAnswers(answers), ...experience, failed: failures.length, recoveredAfterS },
        ...{ neighbours: neighbours.count, ...reported, memory: peaks },
      });
      expect(failures).toEqual([]);
      expect([...peaks].filter(([process, bytes]) => bytes > (limits[process] ?? Infinity))).toEqual([]);
    },
  );
}

function listAnswers(answers: Answers): string {
  return [...answers].map(([answer, times]) => `${times} × ${answer}`).join(', ');
}
