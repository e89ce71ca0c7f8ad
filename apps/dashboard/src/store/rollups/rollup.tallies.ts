import type { TenantId } from '@tollkeeper/kernel';
import type { AddSpend, GroupKey } from '../../domain/breakdown.ts';
import type { ReadPlan } from '../../domain/read-plan.ts';
import type { ReadMeter } from '../../domain/reads.ts';
import { addTallyTo, holdTally, subtractSums, type Tally } from '../../domain/tally.ts';
import type { RunStartStore, TallyStore } from '../../domain/tallies.ts';
import type { PackedRow } from './rollup.codec.ts';
import type { RollupReader } from './rollup.reader.ts';

/** Tallies of roll-ups: all of a window but its ends. */
export function createRollupTallies(rollups: RollupReader): TallyStore & RunStartStore {
  /** Spend without a plan is the workspace's spend minus that of its plans. */
  async function dividePlans(tenantId: TenantId, plan: ReadPlan, add: AddSpend, meter: ReadMeter): Promise<void> {
    const ofNone = new Map<number, Tally>();
    const ofPlans = new Map<number, Tally>();
    await rollups.readPlans(
      tenantId,
      plan,
      meter,
      (row, { start, spans }) => {
        for (const [span, tally] of row.sums(start, spans)) {
          add(row.name, span, tally);
          addTallyTo(ofPlans, span, tally);
        }
      },
      ({ tally }, span) => addTallyTo(ofNone, span, tally),
    );
    for (const [span, tally] of ofPlans) subtractSums(ofNone.get(span)!, tally);
    for (const [span, tally] of ofNone) add(null, span, tally);
  }

  async function divideAgents(
    tenantId: TenantId,
    plan: ReadPlan,
    add: AddSpend,
    meter: ReadMeter,
    groupOf: (row: PackedRow) => GroupKey,
  ): Promise<void> {
    await rollups.readAgents(tenantId, plan, undefined, meter, (row, { start, spans }) => {
      // Such a row has no settlements.
      if (row.model === undefined) return;
      const group = groupOf(row);
      for (const [span, tally] of row.sums(start, spans)) add(group, span, tally);
    });
  }

  async function agentTallies<K>(
    tenantId: TenantId,
    plan: ReadPlan,
    agentId: string | undefined,
    meter: ReadMeter,
    keyOf: (row: PackedRow, span: number) => K | undefined,
  ): Promise<Map<K, Tally>> {
    const total = new Map<K, Tally>();
    await rollups.readAgents(tenantId, plan, agentId, meter, (row, { start, spans }) => {
      if (agentId !== undefined && row.name !== agentId) return;
      for (const [span, tally] of row.sums(start, spans)) {
        const key = keyOf(row, span);
        if (key !== undefined) holdTally(total, key, tally, meter);
      }
    });
    return total;
  }

  return {
    async tallySpans(tenantId, subject, plan, meter) {
      switch (subject.scope) {
        case 'workspace':
          return workspaceTallies(rollups, tenantId, plan);
        case 'agent':
          return agentTallies(tenantId, plan, subject.agentId, meter, (_row, span) => span);
      }
    },
    tallyAgents: (tenantId, plan, meter) => agentTallies(tenantId, plan, undefined, meter, (row) => row.name),
    tallyModels: (tenantId, agentId, plan, meter) => agentTallies(tenantId, plan, agentId, meter, (row) => row.model),
    divideSpend: async (tenantId, by, plan, add, meter) => {
      switch (by) {
        case 'plan':
          return dividePlans(tenantId, plan, add, meter);
        case 'agent':
          return divideAgents(tenantId, plan, add, meter, ({ name }) => name);
        case 'model':
          return divideAgents(tenantId, plan, add, meter, ({ model }) => model ?? null);
      }
    },
    async countRunStarts(tenantId, plan) {
      let runs = 0;
      await rollups.readWorkspaces(tenantId, plan, ({ runsStarted }) => void (runs += runsStarted));
      return runs;
    },
  };
}

async function workspaceTallies(
  rollups: RollupReader,
  tenantId: TenantId,
  plan: ReadPlan,
): Promise<Map<number, Tally>> {
  const bySpan = new Map<number, Tally>();
  await rollups.readWorkspaces(tenantId, plan, ({ tally }, span) => addTallyTo(bySpan, span, tally));
  return bySpan;
}
