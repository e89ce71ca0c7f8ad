import type { TenantId } from '@tollkeeper/kernel';
import { isSpend, type DashboardEvent } from '../../domain/event.ts';
import type { Grouping } from '../../domain/breakdown.ts';
import type { ReadPlan } from '../../domain/read-plan.ts';
import type { ReadMeter } from '../../domain/reads.ts';
import { TALLIED_FIELDS, holdTally, tallyOf, type Tally } from '../../domain/tally.ts';
import type { TallyStore } from '../../domain/tallies.ts';
import { labelIn } from '../../domain/tracked-labels.ts';
import { labelField } from './chunk.codec.ts';
import type { ChunkStore } from './chunk.store.ts';

/** The fields that all tallies need. */
const FIELDS = ['agent_id', 'model', 'plan_key', ...TALLIED_FIELDS];

/** Which events to read: those of one agent, or all of the workspace with one more field. */
interface Source {
  agentId?: string;
  label?: string;
}

/** Tallies of the events in chunks: the ends of windows that roll-ups do not cover. */
export function createChunkTallies(chunks: Pick<ChunkStore, 'eventsIn'>): TallyStore {
  async function readEach(
    tenantId: TenantId,
    plan: ReadPlan,
    { agentId, label }: Source,
    meter: ReadMeter,
    each: (event: DashboardEvent, span: number) => void,
  ): Promise<void> {
    const fields = label === undefined ? FIELDS : [...FIELDS, labelField(label)];
    await Promise.all(
      plan.raw.map(async (raw) => {
        for await (const event of chunks.eventsIn(tenantId, raw, fields, agentId, meter)) {
          each(event, raw.firstSpan + Math.floor((event.time - raw.start) / raw.stepMs));
        }
      }),
    );
  }

  async function grouped<K>(
    tenantId: TenantId,
    plan: ReadPlan,
    source: Source,
    meter: ReadMeter,
    keyOf: (event: DashboardEvent, span: number) => K | undefined,
  ): Promise<Map<K, Tally>> {
    const total = new Map<K, Tally>();
    await readEach(tenantId, plan, source, meter, (event, span) => {
      const key = keyOf(event, span);
      if (key !== undefined) holdTally(total, key, tallyOf(event), meter);
    });
    return total;
  }

  return {
    tallySpans(tenantId, subject, plan, meter) {
      switch (subject.scope) {
        case 'workspace':
          return grouped(tenantId, plan, {}, meter, (_event, span) => span);
        case 'agent':
          return grouped(tenantId, plan, { agentId: subject.agentId }, meter, (_event, span) => span);
        case 'label':
          return grouped(tenantId, plan, { label: subject.name }, meter, ({ data }, span) =>
            labelIn(data.labels, subject.name) === subject.value ? span : undefined,
          );
      }
    },
    tallyAgents: (tenantId, plan, meter) => grouped(tenantId, plan, {}, meter, ({ data }) => data.agent_id),
    tallyModels: (tenantId, agentId, plan, meter) =>
      grouped(tenantId, plan, { agentId }, meter, (event) => (isSpend(event) ? (event.data.model ?? null) : undefined)),
    divideSpend: (tenantId, by, plan, add, meter) =>
      readEach(tenantId, plan, { ...(by.by === 'label' && { label: by.name }) }, meter, (event, span) => {
        if (isSpend(event)) add(groupOf(event, by) ?? null, span, tallyOf(event));
      }),
  };
}

function groupOf({ data }: DashboardEvent, by: Grouping): string | undefined {
  switch (by.by) {
    case 'agent':
      return data.agent_id;
    case 'model':
      return data.model;
    case 'plan':
      return data.plan_key;
    case 'label':
      return labelIn(data.labels, by.name);
  }
}
