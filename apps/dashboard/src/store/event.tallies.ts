import type { TenantId } from '@tollkeeper/kernel';
import { SPEND_SETTLED, type DashboardEvent } from '../domain/event.ts';
import type { Dimension } from '../domain/breakdown.ts';
import type { ReadPlan } from '../domain/read-plan.ts';
import { addTallyTo, tallyOf, type Tally } from '../domain/tally.ts';
import type { TallyStore } from '../domain/tallies.ts';
import type { ChunkStore } from './chunk.store.ts';

export type EventSource = Pick<ChunkStore, 'eventsIn'>;

/** What tallies are made of. */
const FIELDS = ['agent_id', 'model', 'plan_key', 'amount_micros', 'input_tokens', 'output_tokens'];

const GROUP: Record<Dimension, 'agent_id' | 'model' | 'plan_key'> = {
  agent: 'agent_id',
  model: 'model',
  plan: 'plan_key',
};

/** Tallies of raw events: of the ends of windows that roll-ups do not cover. Settlements are in chunks alone. */
export function createEventTallies({ blocked, chunks }: { blocked: EventSource; chunks: EventSource }): TallyStore {
  async function readEach(
    sources: EventSource[],
    tenantId: TenantId,
    plan: ReadPlan,
    agentId: string | undefined,
    each: (event: DashboardEvent, span: number) => void,
  ): Promise<void> {
    const reads = plan.raw.flatMap((raw) => sources.map((source) => ({ raw, source })));
    await Promise.all(
      reads.map(async ({ raw, source }) => {
        for await (const event of source.eventsIn(tenantId, raw, FIELDS, agentId)) {
          each(event, raw.firstSpan + Math.floor((event.time - raw.start) / raw.stepMs));
        }
      }),
    );
  }

  async function grouped<K>(
    sources: EventSource[],
    tenantId: TenantId,
    plan: ReadPlan,
    agentId: string | undefined,
    keyOf: (event: DashboardEvent, span: number) => K | undefined,
  ): Promise<Map<K, Tally>> {
    const total = new Map<K, Tally>();
    await readEach(sources, tenantId, plan, agentId, (event, span) => {
      const key = keyOf(event, span);
      if (key !== undefined) addTallyTo(total, key, tallyOf(event));
    });
    return total;
  }

  const all = [blocked, chunks];
  return {
    tallySpans: (tenantId, subject, plan) =>
      grouped(all, tenantId, plan, subject === 'workspace' ? undefined : subject.agentId, (_event, span) => span),
    tallyAgents: (tenantId, plan) => grouped(all, tenantId, plan, undefined, ({ data }) => data.agent_id),
    tallyModels: (tenantId, agentId, plan) =>
      grouped([chunks], tenantId, plan, agentId, ({ type, data }) =>
        type === SPEND_SETTLED ? (data.model ?? null) : undefined,
      ),
    divideSpend: (tenantId, by, plan, add) =>
      readEach([chunks], tenantId, plan, undefined, (event, span) => {
        if (event.type === SPEND_SETTLED) add(event.data[GROUP[by]] ?? null, span, tallyOf(event));
      }),
  };
}
