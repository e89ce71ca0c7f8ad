import type { TenantId } from '@tollkeeper/kernel';
import type { AddSpend, GroupKey } from '../../domain/breakdown.ts';
import type { ReadPlan } from '../../domain/read-plan.ts';
import type { ReadMeter } from '../../domain/reads.ts';
import { addTallyTo, holdTally, subtractSums, type Tally } from '../../domain/tally.ts';
import type { RunStartStore, TallyStore } from '../../domain/tallies.ts';
import type { PackedRow } from './rollup.codec.ts';
import type { Groups, RollupReader } from './rollup.reader.ts';
import type { RowsOf } from './rollup.rows.ts';

/** Tallies of roll-ups: all of a window but its ends. */
export function createRollupTallies(rollups: RollupReader): TallyStore & RunStartStore {
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
        case 'label':
          return labelTallies(rollups, tenantId, plan, { name: subject.name, model: subject.value }, meter);
      }
    },
    tallyAgents: (tenantId, plan, meter) => agentTallies(tenantId, plan, undefined, meter, (row) => row.name),
    tallyModels: (tenantId, agentId, plan, meter) => agentTallies(tenantId, plan, agentId, meter, (row) => row.model),
    divideSpend: async (tenantId, by, plan, add, meter) => {
      switch (by.by) {
        case 'plan':
          return divideGroups(rollups, tenantId, plan, { kind: 'plans' }, add, meter, ({ name }) => name);
        case 'label': {
          const groups = { kind: 'labels', of: { name: by.name } } as const;
          return divideGroups(rollups, tenantId, plan, groups, add, meter, ({ model }) => model ?? null);
        }
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

async function labelTallies(
  rollups: RollupReader,
  tenantId: TenantId,
  plan: ReadPlan,
  of: RowsOf,
  meter: ReadMeter,
): Promise<Map<number, Tally>> {
  const bySpan = new Map<number, Tally>();
  await rollups.readGroups(tenantId, plan, { kind: 'labels', of }, meter, (row, { start, spans }) => {
    for (const [span, tally] of row.sums(start, spans)) holdTally(bySpan, span, tally, meter);
  });
  return bySpan;
}

/** Spend of no group is the workspace's spend minus that of all groups. */
async function divideGroups(
  rollups: RollupReader,
  tenantId: TenantId,
  plan: ReadPlan,
  groups: Groups,
  add: AddSpend,
  meter: ReadMeter,
  groupOf: (row: PackedRow) => GroupKey,
): Promise<void> {
  const ofNone = new Map<number, Tally>();
  const ofGroups = new Map<number, Tally>();
  await rollups.readGroups(
    tenantId,
    plan,
    groups,
    meter,
    (row, { start, spans }) => {
      const group = groupOf(row);
      for (const [span, tally] of row.sums(start, spans)) {
        add(group, span, tally);
        addTallyTo(ofGroups, span, tally);
      }
    },
    ({ tally }, span) => addTallyTo(ofNone, span, tally),
  );
  for (const [span, tally] of ofGroups) subtractSums(ofNone.get(span)!, tally);
  for (const [span, tally] of ofNone) add(null, span, tally);
}
