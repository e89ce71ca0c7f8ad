import type { FoundFacts } from '@tollkeeper/call-facts';

const INTERVENED = 'guardrail_intervened';
const FILTERED = /^content[_-]filter$/;
/** The guard of a provider whose answer ends with this reason. */
const CONTENT_FILTER = 'content_filter';
const UNNAMED = 'guardrail';

/**
 * The names of the guards that blocked a call: those of the gateway, which also have records of their own, and the
 * filter of the provider. Spans around a call repeat its finish reasons, so these count on calls only.
 */
export function guardsThatBlocked(facts: FoundFacts, { isCall }: { isCall: boolean }): readonly string[] {
  const guards = intervened(facts);
  const isFiltered = isCall && (facts.value('finishReasons')?.some((reason) => FILTERED.test(reason)) ?? false);
  return isFiltered ? [...guards, CONTENT_FILTER] : guards;
}

function intervened(facts: FoundFacts): string[] {
  if (facts.value('guardStatus') !== INTERVENED) return [];
  const guard = facts.value('guard');
  if (guard !== undefined) return [guard];
  const guards = facts.value('guards') ?? [];
  const statuses = facts.value('guardStatuses') ?? [];
  const blocking = statuses.flatMap((status, index) => (status === INTERVENED ? [guards[index] || UNNAMED] : []));
  return blocking.length > 0 ? blocking : [UNNAMED];
}
