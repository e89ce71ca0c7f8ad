import type { TenantId, TimeSpan } from '@tollkeeper/kernel';
import { createBreakdown, type AddSpend, type Breakdown, type Grouping } from './breakdown.ts';
import { AGENT_GRAINS, GRAINS, type Grain } from './grain.ts';
import { OTHER } from './names.ts';
import { planReads, type ReadPlan } from './read-plan.ts';
import { UNLIMITED, type ReadMeter } from './reads.ts';
import { addTally, addTallyTo, emptyTally, holdTally, type Tally } from './tally.ts';

/** Whose events to tally: those of a whole workspace, of one agent, or with one value of a tracked label. */
export type Subject =
  { scope: 'workspace' } | { scope: 'agent'; agentId: string } | { scope: 'label'; name: string; value: string };

export const WHOLE_WORKSPACE: Subject = { scope: 'workspace' };

/** Reads a part of a plan: roll-ups, or the raw events between them. The caller owns the returned maps. */
export interface TallyStore {
  /** Tallies by the plan's span index. Spans without events may be absent. */
  tallySpans(tenantId: TenantId, subject: Subject, plan: ReadPlan, meter: ReadMeter): Promise<Map<number, Tally>>;
  /** Tallies by agent over all spans of the plan, including every agent with an event of any type. */
  tallyAgents(tenantId: TenantId, plan: ReadPlan, meter: ReadMeter): Promise<Map<string, Tally>>;
  /** Tallies of an agent's settlements by model; null for settlements that name no model. */
  tallyModels(
    tenantId: TenantId,
    agentId: string,
    plan: ReadPlan,
    meter: ReadMeter,
  ): Promise<Map<string | null, Tally>>;
  /** Passes all settlements of the workspace to `add`, by group and the plan's span index. */
  divideSpend(tenantId: TenantId, by: Grouping, plan: ReadPlan, add: AddSpend, meter: ReadMeter): Promise<void>;
}

/** Counts a part of the runs whose first event lies in the plan's spans. */
export interface RunStartStore {
  countRunStarts(tenantId: TenantId, plan: ReadPlan, meter?: ReadMeter): Promise<number>;
}

/**
 * Computes tallies of any span from roll-ups and raw events. They are exact, except for the bounds of `byAgent` and
 * `byModel`.
 */
export interface Tallies {
  /** One tally for each span. The spans follow one another without gap or overlap. */
  ofSpans(tenantId: TenantId, subject: Subject, spans: TimeSpan[], meter?: ReadMeter): Promise<Tally[]>;
  /** At most `MAX_KEYS` agents, the first ones that are read. */
  byAgent(tenantId: TenantId, span: TimeSpan, meter?: ReadMeter): Promise<Map<string, Tally>>;
  /** The {@link MAX_MODELS} models with the most spend of the agent. Spend on all others counts as `OTHER`. */
  byModel(tenantId: TenantId, agentId: string, span: TimeSpan, meter?: ReadMeter): Promise<Map<string | null, Tally>>;
  /**
   * What was settled in each of the spans, divided into the `limit` largest groups and all others. The spans follow one
   * another without gap or overlap.
   */
  breakdown(tenantId: TenantId, by: Grouping, spans: TimeSpan[], limit: number, meter?: ReadMeter): Promise<Breakdown>;
  runsStarted(tenantId: TenantId, span: TimeSpan, meter?: ReadMeter): Promise<number>;
}

/** The grains from which a subject is read. */
const GRAINS_OF: Record<Subject['scope'], readonly Grain[]> = {
  workspace: GRAINS,
  agent: AGENT_GRAINS,
  label: AGENT_GRAINS,
};

/** A roll-up distinguishes as many models of an agent. */
const MAX_MODELS = 1_000;

export function createTallies(stores: { tallies: TallyStore[]; runStarts: RunStartStore[] }): Tallies {
  /** Adds the stores' answers to the largest of them, since a workspace may have many agents. */
  async function merged<K>(
    meter: ReadMeter,
    read: (store: TallyStore) => Promise<Map<K, Tally>>,
  ): Promise<Map<K, Tally>> {
    const answers = (await Promise.all(stores.tallies.map(read))).sort((a, b) => b.size - a.size);
    const [total = new Map<K, Tally>(), ...others] = answers;
    for (const part of others) for (const [key, tally] of part) holdTally(total, key, tally, meter);
    return total;
  }

  return {
    async ofSpans(tenantId, subject, spans, meter = UNLIMITED) {
      const plan = planReads(spans, GRAINS_OF[subject.scope]);
      const bySpan = await merged(meter, (store) => store.tallySpans(tenantId, subject, plan, meter));
      return spans.map((_, index) => bySpan.get(index) ?? emptyTally());
    },
    byAgent(tenantId, span, meter = UNLIMITED) {
      const plan = planReads([span], AGENT_GRAINS);
      return merged(meter, (store) => store.tallyAgents(tenantId, plan, meter));
    },
    async byModel(tenantId, agentId, span, meter = UNLIMITED) {
      const plan = planReads([span], AGENT_GRAINS);
      return withinMaxModels(await merged(meter, (store) => store.tallyModels(tenantId, agentId, plan, meter)));
    },
    async breakdown(tenantId, by, spans, limit, meter = UNLIMITED) {
      const plan = planReads(spans, AGENT_GRAINS);
      const { add, largest } = createBreakdown(spans.length, meter);
      await Promise.all(stores.tallies.map((store) => store.divideSpend(tenantId, by, plan, add, meter)));
      return largest(limit);
    },
    async runsStarted(tenantId, span, meter = UNLIMITED) {
      const plan = planReads([span], GRAINS);
      const counts = await Promise.all(stores.runStarts.map((store) => store.countRunStarts(tenantId, plan, meter)));
      return counts.reduce((sum, count) => sum + count, 0);
    },
  };
}

function withinMaxModels(models: Map<string | null, Tally>): Map<string | null, Tally> {
  const named = [...models].filter(([model]) => model !== null && model !== OTHER);
  if (named.length <= MAX_MODELS) return models;
  named.sort(([, a], [, b]) => b.totalMicros - a.totalMicros);
  const kept = new Map<string | null, Tally>(named.slice(0, MAX_MODELS));
  for (const unnamed of [null, OTHER]) {
    const tally = models.get(unnamed);
    if (tally !== undefined) kept.set(unnamed, tally);
  }
  for (const [, tally] of named.slice(MAX_MODELS)) addTallyTo(kept, OTHER, tally);
  return kept;
}

/** The tally of the union of `tallies`' spans. */
export function sumTallies(tallies: Iterable<Tally>): Tally {
  const sum = emptyTally();
  for (const tally of tallies) addTally(sum, tally);
  return sum;
}
