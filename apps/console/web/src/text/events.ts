import type { Api } from '@tollkeeper/client';

type TypeOf<Event> = Event extends { type: infer Type extends string } ? (string extends Type ? never : Type) : never;
/** A type of events that Tollkeeper gives a meaning. */
type KnownEventType = TypeOf<Api.PostEventsData['body']>;

/** One event, and several. In the order of forms. */
const KNOWN_EVENTS: Record<KnownEventType, readonly [string, string]> = {
  'budget.blocked': ['call blocked by a budget', 'calls blocked by a budget'],
  'guard.blocked': ['call blocked by a guard', 'calls blocked by a guard'],
  'budget.threshold_reached': ['threshold of a daily budget reached', 'thresholds of daily budgets reached'],
  'spend.settled': ['settlement', 'settlements'],
};

export const EVENT_TYPES = Object.keys(KNOWN_EVENTS);
const EVENTS = new Map<string, readonly [string, string]>(Object.entries(KNOWN_EVENTS));

/** "calls blocked by a budget or calls blocked by a guard", for so many of them. */
export function eventsOf(types: readonly string[], events: number): string {
  if (types.length === 0) return events === 1 ? 'event of any kind' : 'events of any kind';
  return types.map((type) => EVENTS.get(type)?.[events === 1 ? 0 : 1] ?? `${type} events`).join(' or ');
}

/** "Calls blocked by a budget". Gateways report further types, which have no name but their own. */
export function eventTypeLabel(type: string): string {
  const [, several] = EVENTS.get(type) ?? [];
  return several === undefined ? type : several.charAt(0).toUpperCase() + several.slice(1);
}
