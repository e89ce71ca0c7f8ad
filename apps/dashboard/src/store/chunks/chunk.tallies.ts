import type { TenantId } from '@tollkeeper/kernel';
import { SPEND_SETTLED, type DashboardEvent } from '../../domain/event.ts';
import type { Dimension } from '../../domain/breakdown.ts';
import type { ReadPlan } from '../../domain/read-plan.ts';
import type { ReadMeter } from '../../domain/reads.ts';
import { AMOUNTS, holdTally, tallyOf, type Tally } from '../../domain/tally.ts';
import type { Subject, TallyStore } from '../../domain/tallies.ts';
import type { ChunkStore } from './chunk.store.ts';

const GROUP: Record<Dimension, 'agent_id' | 'model' | 'plan_key'> = {
  agent: 'agent_id',
  model: 'model',
  plan: 'plan_key',
};
/** The fields that tallies need. */
const FIELDS = [...Object.values(GROUP), ...AMOUNTS];

/** Tallies of the events in chunks: the ends of windows that roll-ups do not cover. */
export function createChunkTallies(chunks: Pick<ChunkStore, 'eventsIn'>): TallyStore {
  async function readEach(
    tenantId: TenantId,
    plan: ReadPlan,
    agentId: string | undefined,
    meter: ReadMeter,
    each: (event: DashboardEvent, span: number) => void,
  ): Promise<void> {
    await Promise.all(
      plan.raw.map(async (raw) => {
        for await (const event of chunks.eventsIn(tenantId, raw, FIELDS, agentId, meter)) {
          each(event, raw.firstSpan + Math.floor((event.time - raw.start) / raw.stepMs));
        }
      }),
    );
  }

  async function grouped<K>(
    tenantId: TenantId,
    plan: ReadPlan,
    agentId: string | undefined,
    meter: ReadMeter,
    keyOf: (event: DashboardEvent, span: number) => K | undefined,
  ): Promise<Map<K, Tally>> {
    const total = new Map<K, Tally>();
    await readEach(tenantId, plan, agentId, meter, (event, span) => {
      const key = keyOf(event, span);
      if (key !== undefined) holdTally(total, key, tallyOf(event), meter);
    });
    return total;
  }

  return {
    tallySpans: (tenantId, subject, plan, meter) =>
      grouped(tenantId, plan, agentOf(subject), meter, (_event, span) => span),
    tallyAgents: (tenantId, plan, meter) => grouped(tenantId, plan, undefined, meter, ({ data }) => data.agent_id),
    tallyModels: (tenantId, agentId, plan, meter) =>
      grouped(tenantId, plan, agentId, meter, ({ type, data }) =>
        type === SPEND_SETTLED ? (data.model ?? null) : undefined,
      ),
    divideSpend: (tenantId, by, plan, add, meter) =>
      readEach(tenantId, plan, undefined, meter, (event, span) => {
        if (event.type === SPEND_SETTLED) add(event.data[GROUP[by]] ?? null, span, tallyOf(event));
      }),
  };
}

/** The one agent whose events are read; undefined to read those of all agents. */
function agentOf(subject: Subject): string | undefined {
  switch (subject.scope) {
    case 'workspace':
      return undefined;
    case 'agent':
      return subject.agentId;
  }
}
