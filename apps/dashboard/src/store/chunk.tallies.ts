import type { TenantId } from '@tollkeeper/kernel';
import { SPEND_SETTLED, type DashboardEvent } from '../domain/event.ts';
import type { Dimension } from '../domain/breakdown.ts';
import type { ReadPlan } from '../domain/read-plan.ts';
import { addTallyTo, tallyOf, type Tally } from '../domain/tally.ts';
import type { TallyStore } from '../domain/tallies.ts';
import type { ChunkStore } from './chunk.store.ts';

/** What tallies are made of. */
const FIELDS = ['agent_id', 'model', 'plan_key', 'amount_micros', 'input_tokens', 'output_tokens'];

const GROUP: Record<Dimension, 'agent_id' | 'model' | 'plan_key'> = {
  agent: 'agent_id',
  model: 'model',
  plan: 'plan_key',
};

/** Tallies of the events in chunks: the ends of windows that roll-ups do not cover. */
export function createChunkTallies(chunks: Pick<ChunkStore, 'eventsIn'>): TallyStore {
  async function readEach(
    tenantId: TenantId,
    plan: ReadPlan,
    agentId: string | undefined,
    each: (event: DashboardEvent, span: number) => void,
  ): Promise<void> {
    await Promise.all(
      plan.raw.map(async (raw) => {
        for await (const event of chunks.eventsIn(tenantId, raw, FIELDS, agentId)) {
          each(event, raw.firstSpan + Math.floor((event.time - raw.start) / raw.stepMs));
        }
      }),
    );
  }

  async function grouped<K>(
    tenantId: TenantId,
    plan: ReadPlan,
    agentId: string | undefined,
    keyOf: (event: DashboardEvent, span: number) => K | undefined,
  ): Promise<Map<K, Tally>> {
    const total = new Map<K, Tally>();
    await readEach(tenantId, plan, agentId, (event, span) => {
      const key = keyOf(event, span);
      if (key !== undefined) addTallyTo(total, key, tallyOf(event));
    });
    return total;
  }

  return {
    tallySpans: (tenantId, subject, plan) =>
      grouped(tenantId, plan, subject === 'workspace' ? undefined : subject.agentId, (_event, span) => span),
    tallyAgents: (tenantId, plan) => grouped(tenantId, plan, undefined, ({ data }) => data.agent_id),
    tallyModels: (tenantId, agentId, plan) =>
      grouped(tenantId, plan, agentId, ({ type, data }) => (type === SPEND_SETTLED ? (data.model ?? null) : undefined)),
    divideSpend: (tenantId, by, plan, add) =>
      readEach(tenantId, plan, undefined, (event, span) => {
        if (event.type === SPEND_SETTLED) add(event.data[GROUP[by]] ?? null, span, tallyOf(event));
      }),
  };
}
