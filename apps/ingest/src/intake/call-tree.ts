import {
  eachInSlices,
  type FoundFacts,
  type IntakeRecord,
  type SenderCost,
  type SpanTree,
} from '@tollkeeper/call-facts';
import { inputTotal } from '@tollkeeper/prices';
import { disjointTokens, type DisjointTokens } from './token-kinds.ts';

/** A record that is a call, before it is known whether another one inside it repeats it. */
export interface Candidate {
  record: IntakeRecord;
  facts: FoundFacts;
  usage: DisjointTokens | undefined;
  /** Undefined without one in USD. */
  cost: SenderCost | undefined;
}

/** How calls of one body repeat each other. */
export interface Repetition {
  /** The calls that only wrap others. */
  repeated: ReadonlySet<IntakeRecord>;
  /** The costs of calls without one of their own, which only a call around them reports. */
  costs: ReadonlyMap<IntakeRecord, SenderCost>;
}

const USD = 'USD';

interface Totals {
  input: number;
  output: number;
}

interface Inside extends Totals {
  /** Undefined if there are several. */
  only: Candidate | undefined;
}

export function candidateOf(record: IntakeRecord, facts: FoundFacts): Candidate {
  const input = facts.value('inputTokens');
  const usage = disjointTokens({
    input: input?.value,
    inputExcludesCached: input?.excludes ?? false,
    output: facts.value('outputTokens')?.value,
    cacheRead: facts.value('cacheReadTokens')?.value,
    cacheWrite: facts.value('cacheWriteTokens')?.value,
    cacheWrite1h: facts.value('cacheWrite1hTokens')?.value,
    reasoning: facts.value('reasoningTokens')?.value,
  });
  return { record, facts, usage, cost: isInUsd(facts) ? facts.value('cost') : undefined };
}

export function isInUsd(facts: FoundFacts): boolean {
  return (facts.value('currency') ?? USD).toUpperCase() === USD;
}

/**
 * Finds the calls that only wrap others of the same body: a call around another one is no call if it has no tokens, or
 * as many as a call inside it, or as the calls directly inside it together. Its cost becomes that of the call inside
 * it if that is the only one and has none. With several calls inside, nothing says how the cost is to be divided: it is
 * dropped, and each of them has its own cost or none.
 */
export async function findRepetition(
  candidates: ReadonlyMap<IntakeRecord, Candidate>,
  tree: SpanTree,
  signal: AbortSignal | undefined,
): Promise<Repetition> {
  const repeated = new Set<IntakeRecord>();
  const inside = new Map<IntakeRecord, Inside>();
  const compare = (candidate: Candidate): void => {
    const { record } = candidate;
    const own = totalsOf(candidate.usage);
    let isDirect = true;
    for (const ancestor of tree.ancestors(record)) {
      const outer = candidates.get(ancestor);
      if (outer === undefined) continue;
      if (hasNoMore(outer, own)) repeated.add(ancestor);
      if (isDirect) {
        const sum = inside.get(ancestor);
        const only = sum === undefined ? candidate : undefined;
        const { input, output } = sum ?? { input: 0, output: 0 };
        inside.set(ancestor, { input: input + own.input, output: output + own.output, only });
      }
      isDirect = false;
    }
  };
  await eachInSlices(candidates.values(), compare, signal);
  for (const [record, sum] of inside) {
    if (isSame(totalsOf(candidates.get(record)?.usage), sum)) repeated.add(record);
  }
  const costs = new Map<IntakeRecord, SenderCost>();
  const passOn = (candidate: Candidate): void => {
    if (candidate.cost === undefined) return;
    let holder = candidate;
    while (repeated.has(holder.record)) {
      const only = inside.get(holder.record)?.only;
      // This also ends where spans are around each other: the call that passes its cost on has one.
      if (only === undefined || only.cost !== undefined || !hasNoMore(holder, totalsOf(only.usage))) return;
      holder = only;
    }
    if (holder !== candidate) costs.set(holder.record, candidate.cost);
  };
  await eachInSlices(candidates.values(), passOn, signal);
  return { repeated, costs };
}

function hasNoMore({ usage }: Candidate, inner: Totals): boolean {
  return usage === undefined || isSame(totalsOf(usage), inner);
}

function totalsOf(usage: DisjointTokens | undefined): Totals {
  return usage === undefined
    ? { input: 0, output: 0 }
    : { input: inputTotal(usage.tokens), output: usage.tokens.output };
}

function isSame(a: Totals, b: Totals): boolean {
  return a.input === b.input && a.output === b.output;
}
