import { eachInSlices } from './each-in-slices.ts';
import type { FoundFacts } from './read-facts.ts';
import type { IntakeRecord } from './record.ts';
import type { SpanTree } from './span-tree.ts';
import { disjointTokens, type DisjointTokens, inputTotal } from './token-kinds.ts';

/** A record that is a call, before it is known whether another one inside it repeats it. */
export interface Candidate {
  record: IntakeRecord;
  facts: FoundFacts;
  usage: DisjointTokens | undefined;
}

interface Totals {
  input: number;
  output: number;
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
  return { record, facts, usage };
}

/**
 * The calls that other calls of the same body repeat, which only wrap them: a call around another one is no call if it
 * has no tokens, or as many as a call inside it, or as the calls directly inside it together.
 */
export async function repeatedCalls(
  candidates: ReadonlyMap<IntakeRecord, Candidate>,
  tree: SpanTree,
  signal: AbortSignal | undefined,
): Promise<ReadonlySet<IntakeRecord>> {
  const repeated = new Set<IntakeRecord>();
  const inside = new Map<IntakeRecord, Totals>();
  const compare = ({ record, usage }: Candidate): void => {
    const own = totalsOf(usage);
    let isDirect = true;
    for (const ancestor of tree.ancestors(record)) {
      const outer = candidates.get(ancestor);
      if (outer === undefined) continue;
      if (outer.usage === undefined || isSame(totalsOf(outer.usage), own)) repeated.add(ancestor);
      if (isDirect) {
        const sum = inside.get(ancestor) ?? { input: 0, output: 0 };
        inside.set(ancestor, { input: sum.input + own.input, output: sum.output + own.output });
      }
      isDirect = false;
    }
  };
  await eachInSlices(candidates.values(), compare, signal);
  for (const [record, sum] of inside) {
    if (isSame(totalsOf(candidates.get(record)?.usage), sum)) repeated.add(record);
  }
  return repeated;
}

function totalsOf(usage: DisjointTokens | undefined): Totals {
  return usage === undefined
    ? { input: 0, output: 0 }
    : { input: inputTotal(usage.tokens), output: usage.tokens.output };
}

function isSame(a: Totals, b: Totals): boolean {
  return a.input === b.input && a.output === b.output;
}
