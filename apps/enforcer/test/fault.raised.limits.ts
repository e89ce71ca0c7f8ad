import { setTimeout as delay } from 'node:timers/promises';
import type { TenantId } from '@tollkeeper/kernel';
import type { LimitName } from './fault.book.ts';
import { type LimitOfView, listAsOwner, type OpenLease, readAsOwner } from './fault.owner.ts';
import type { Chance } from './fault.record.ts';
import type { Stage } from './fault.stage.ts';

export type RaisedLimits = ReturnType<typeof createRaisedLimits>;

interface RaisedLimitsDeps {
  stage: Pick<Stage, 'budgets' | 'replicas'>;
  workspace: { tenantId: TenantId; agentId: string; planKey: string };
  chance: Chance;
  /** What a raise adds to the limit of the workspace, on average. */
  stepMicros: number;
  /** Less than this left of a limit denies calls. */
  mostOfCall: number;
  onOpenLeases: (leases: readonly OpenLease[]) => void;
  problem: (text: string) => void;
}

const EVERY_MS = 250;
/** A limit of the agent, or the plan, has half of the calls of the workspace. */
const SHARES: Record<LimitName, number> = { workspace: 1, agent: 0.5, plan: 0.5 };

/**
 * Three limits, of a workspace, an agent and a plan, which are raised whenever one of them is used up. So they deny all
 * through the run, each time another one first. Meanwhile, none may have more than it lets pass.
 */
export function createRaisedLimits(deps: RaisedLimitsDeps) {
  const { stage, workspace, chance, stepMicros, mostOfCall, onOpenLeases, problem } = deps;
  const { tenantId } = workspace;
  const limits: Record<LimitName, number> = { workspace: 0, agent: 0, plan: 0 };
  /** What lay unused in leases at each raise. */
  const unused: number[] = [];
  let isOver = false;

  function raise(usedOf: (limit: LimitName) => number): void {
    for (const name of Object.keys(limits) as LimitName[]) {
      const room = Math.round(stepMicros * SHARES[name] * (0.5 + chance.next()));
      limits[name] = Math.max(limits[name], usedOf(name) + room);
    }
    stage.budgets.setWorkspace(tenantId, limits.workspace);
    stage.budgets.setAgent(tenantId, workspace.agentId, limits.agent);
    stage.budgets.setPlan(tenantId, workspace.planKey, limits.plan);
  }

  /** Replicas may know an older limit, so the answer is compared with the present ones. */
  function check({ scope, spent_micros: spent, held_micros: held, overspend_micros: over }: LimitOfView): void {
    const passed = spent - over.above_hold - over.late - over.unreserved + held;
    if (passed > limits[scope]) problem(`${scope}: ${passed} spent and held of ${limits[scope]}, without the terms`);
  }

  async function look(): Promise<void> {
    const { port } = chance.pick(stage.replicas);
    const view = await readAsOwner<{ items: LimitOfView[] }>(port, tenantId, '/limits');
    const rows = view?.items ?? [];
    rows.forEach(check);
    const usedOf = (name: LimitName) => {
      const row = rows.find(({ scope }) => scope === name);
      return row === undefined ? 0 : row.spent_micros + row.held_micros;
    };
    if (!rows.some(({ scope }) => usedOf(scope) + mostOfCall > limits[scope])) return;
    const leases = await listAsOwner<OpenLease>(port, tenantId, '/limits/leases?state=open');
    if (leases === null) return;
    onOpenLeases(leases);
    unused.push(leases.reduce((sum, { left_micros: left }) => sum + left, 0));
    raise(usedOf);
  }

  raise(() => 0);
  return {
    limits,
    unused,
    async run(): Promise<void> {
      while (!isOver) {
        // It may be a replica that was just killed.
        await look().catch(() => undefined);
        await delay(EVERY_MS);
      }
    },
    stop: () => void (isOver = true),
  };
}
