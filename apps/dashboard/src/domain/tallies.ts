import type { TenantId, TimeSpan } from '@tollkeeper/kernel';
import { createBreakdown, type AddSpend, type Breakdown, type Dimension } from './breakdown.ts';
import { AGENT_GRAINS, GRAINS } from './grain.ts';
import { planReads, type ReadPlan } from './read-plan.ts';
import { addTally, addTallyTo, emptyTally, type Tally } from './tally.ts';

/** The events to tally: those of a whole workspace, or of one agent. */
export type Subject = { agentId: string } | 'workspace';

/** Reads a part of a plan: roll-ups, or the raw events between them. */
export interface TallyStore {
  /** Tallies by the index of the plan's span. Spans without events may be absent. */
  tallySpans(tenantId: TenantId, subject: Subject, plan: ReadPlan): Promise<Map<number, Tally>>;
  /** Tallies by agent over all spans of the plan. They include every agent with an event of any type. */
  tallyAgents(tenantId: TenantId, plan: ReadPlan): Promise<Map<string, Tally>>;
  /** Tallies of an agent's settlements by model; null for settlements that name no model. */
  tallyModels(tenantId: TenantId, agentId: string, plan: ReadPlan): Promise<Map<string | null, Tally>>;
  /** Hands all settlements of the workspace to `add`, by group and the index of the plan's span. */
  divideSpend(tenantId: TenantId, by: Dimension, plan: ReadPlan, add: AddSpend): Promise<void>;
}

/** Reads a part of the number of runs whose first event lies in the plan's spans. */
export interface RunStartStore {
  countRunStarts(tenantId: TenantId, plan: ReadPlan): Promise<number>;
}

/** Computes exact tallies of any span from roll-ups and raw events. */
export interface Tallies {
  /** One tally for each span. The spans follow one another without gap or overlap. */
  ofSpans(tenantId: TenantId, subject: Subject, spans: TimeSpan[]): Promise<Tally[]>;
  byAgent(tenantId: TenantId, span: TimeSpan): Promise<Map<string, Tally>>;
  byModel(tenantId: TenantId, agentId: string, span: TimeSpan): Promise<Map<string | null, Tally>>;
  /**
   * What was settled in each of the spans, divided into the `limit` largest groups and all others. The spans follow one
   * another without gap or overlap.
   */
  breakdown(tenantId: TenantId, by: Dimension, spans: TimeSpan[], limit: number): Promise<Breakdown>;
  runsStarted(tenantId: TenantId, span: TimeSpan): Promise<number>;
}

export function createTallies(stores: { tallies: TallyStore[]; runStarts: RunStartStore[] }): Tallies {
  async function merged<K>(read: (store: TallyStore) => Promise<Map<K, Tally>>): Promise<Map<K, Tally>> {
    const total = new Map<K, Tally>();
    for (const part of await Promise.all(stores.tallies.map(read))) {
      for (const [key, tally] of part) addTallyTo(total, key, tally);
    }
    return total;
  }

  return {
    async ofSpans(tenantId, subject, spans) {
      const plan = planReads(spans, subject === 'workspace' ? GRAINS : AGENT_GRAINS);
      const bySpan = await merged((store) => store.tallySpans(tenantId, subject, plan));
      return spans.map((_, index) => bySpan.get(index) ?? emptyTally());
    },
    byAgent: (tenantId, span) => merged((store) => store.tallyAgents(tenantId, planReads([span], AGENT_GRAINS))),
    byModel: (tenantId, agentId, span) =>
      merged((store) => store.tallyModels(tenantId, agentId, planReads([span], AGENT_GRAINS))),
    async breakdown(tenantId, by, spans, limit) {
      const plan = planReads(spans, AGENT_GRAINS);
      const { add, largest } = createBreakdown(spans.length);
      await Promise.all(stores.tallies.map((store) => store.divideSpend(tenantId, by, plan, add)));
      return largest(limit);
    },
    async runsStarted(tenantId, span) {
      const plan = planReads([span], GRAINS);
      const counts = await Promise.all(stores.runStarts.map((store) => store.countRunStarts(tenantId, plan)));
      return counts.reduce((sum, count) => sum + count, 0);
    },
  };
}

/** The tally of the union of `tallies`' spans. */
export function sumTallies(tallies: Iterable<Tally>): Tally {
  const sum = emptyTally();
  for (const tally of tallies) addTally(sum, tally);
  return sum;
}
