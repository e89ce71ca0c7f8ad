import type { Api } from '@tollkeeper/client';
import { type Noun, noun } from './plurals.ts';

type TypeOf<Event> = Event extends { type: infer Type extends string } ? (string extends Type ? never : Type) : never;
/** An event type with a meaning for Tollkeeper. */
type KnownEventType = TypeOf<Api.PostEventsData['body']>;

interface EventNouns {
  /** After a number. */
  counted: Noun;
  /** After "first", and in a list of several types. */
  short: Noun;
}

/** In the order of forms. */
const KNOWN_EVENTS: Record<KnownEventType, EventNouns> = {
  'budget.blocked': {
    counted: { one: 'call blocked by a budget', other: 'calls blocked by a budget' },
    short: { one: 'budget block', other: 'budget blocks' },
  },
  'guard.blocked': {
    counted: { one: 'call blocked by a guard', other: 'calls blocked by a guard' },
    short: { one: 'guard block', other: 'guard blocks' },
  },
  'budget.threshold_reached': {
    counted: { one: 'budget threshold reached', other: 'budget thresholds reached' },
    short: { one: 'budget threshold', other: 'budget thresholds' },
  },
  'spend.settled': {
    counted: { one: 'settlement', other: 'settlements' },
    short: { one: 'settlement', other: 'settlements' },
  },
  'call.unmetered': {
    counted: { one: 'call without usage', other: 'calls without usage' },
    short: { one: 'unmetered call', other: 'unmetered calls' },
  },
  'call.failed': {
    counted: { one: 'failed call', other: 'failed calls' },
    short: { one: 'failed call', other: 'failed calls' },
  },
  'price.missing': {
    counted: { one: 'model without a price', other: 'models without a price' },
    short: { one: 'missing price', other: 'missing prices' },
  },
};

/** Types that Tollkeeper writes itself. */
export const RAISE_REQUESTED = 'raise.requested';
const OWN_EVENTS: Record<typeof RAISE_REQUESTED, EventNouns> = {
  [RAISE_REQUESTED]: {
    counted: { one: 'request for a raise', other: 'requests for raises' },
    short: { one: 'request for a raise', other: 'requests for raises' },
  },
};

const ANY: Noun = { one: 'event of any type', other: 'events of any type' };

export const EVENT_TYPES = Object.keys(KNOWN_EVENTS);
const EVENTS = new Map<string, EventNouns>(Object.entries({ ...KNOWN_EVENTS, ...OWN_EVENTS }));

/** "calls blocked by a budget"; for several types "budget blocks or guard blocks". */
export function eventsOf(types: readonly string[], events: number): string {
  return nounOf(types, events, types.length === 1 ? 'counted' : 'short');
}

/** "guard block", after "First". */
export function firstEventOf(types: readonly string[]): string {
  return nounOf(types, 1, 'short');
}

function nounOf(types: readonly string[], events: number, form: keyof EventNouns): string {
  if (types.length === 0) return noun(events, ANY);
  return types
    .map((type) => noun(events, EVENTS.get(type)?.[form] ?? { one: `${type} event`, other: `${type} events` }))
    .join(' or ');
}

/** "Calls blocked by a budget". Gateways report further types, which have no name except their own. */
export function eventTypeLabel(type: string): string {
  const several = EVENTS.get(type)?.counted.other;
  return several === undefined ? type : several.charAt(0).toUpperCase() + several.slice(1);
}
