import { type CountableEvent, MAX_LATENESS_MS, MAX_RECEIPT_DISORDER_MS } from './event.ts';

/** Most alerts that a rule makes in a minute of event time. */
export const MAX_ALERTS_PER_MINUTE = 60;

/** Why a rule did not fire though its condition was met: it had fired lately, or too often within the minute. */
export type SuppressionReason = 'cooldown' | 'rate_limited';

/** The place of a decision among those of its rule. */
export interface DecisionPlace {
  /** Counts the rule's decisions, from 1. What comes again with the same number takes the place of what was there. */
  number: number;
  /** How many events it stands for. */
  count: number;
}

/** What a rule decided with events of one minute of event time. */
interface DecidedMinute {
  /** Since the epoch. */
  minute: number;
  fired: number;
  /** All that is suppressed in the minute for one reason is one decision; null before the first. */
  cooldown: DecisionPlace | null;
  rate_limited: DecisionPlace | null;
}

/** What a store keeps of {@link RuleHistory}. */
export interface SavedHistory {
  /** Newest event time that the rule fired at, epoch milliseconds. */
  lastFiredAt: number | null;
  /** Number of the last decision. */
  decisions: number;
  minutes: DecidedMinute[];
}

const MINUTE_MS = 60_000;
const EMPTY: SavedHistory = { lastFiredAt: null, decisions: 0, minutes: [] };

/**
 * What of a rule's decisions counts for the next ones, whatever revision made them. Bounded: minutes that no event can
 * reach are forgotten.
 */
export class RuleHistory {
  lastFiredAt: number | null;
  #decisions: number;
  #minutes: DecidedMinute[];

  constructor({ lastFiredAt, decisions, minutes }: SavedHistory = EMPTY) {
    this.lastFiredAt = lastFiredAt;
    this.#decisions = decisions;
    this.#minutes = minutes.map(copyOf);
  }

  /** Whether the rule has made all alerts that it may make in the minute of the event. */
  hasFiredEnough(event: CountableEvent): boolean {
    return this.#minuteOf(event).fired >= MAX_ALERTS_PER_MINUTE;
  }

  fire(event: CountableEvent): DecisionPlace {
    this.#minuteOf(event).fired += 1;
    this.lastFiredAt = Math.max(event.time, this.lastFiredAt ?? event.time);
    return this.#nextPlace();
  }

  suppress(event: CountableEvent, reason: SuppressionReason): DecisionPlace {
    const minute = this.#minuteOf(event);
    const known = minute[reason];
    return (minute[reason] = known === null ? this.#nextPlace() : { ...known, count: known.count + 1 });
  }

  save(): SavedHistory {
    return { lastFiredAt: this.lastFiredAt, decisions: this.#decisions, minutes: this.#minutes.map(copyOf) };
  }

  #nextPlace(): DecisionPlace {
    this.#decisions += 1;
    return { number: this.#decisions, count: 1 };
  }

  #minuteOf({ time, receivedAt }: CountableEvent): DecidedMinute {
    const minute = Math.floor(time / MINUTE_MS);
    const known = this.#minutes.findLast((each) => each.minute === minute);
    if (known !== undefined) return known;
    const oldest = Math.floor((receivedAt - MAX_LATENESS_MS - MAX_RECEIPT_DISORDER_MS) / MINUTE_MS);
    const fresh = { minute, fired: 0, cooldown: null, rate_limited: null };
    this.#minutes = [...this.#minutes.filter((each) => each.minute >= oldest), fresh];
    return fresh;
  }
}

/** The places in it are never changed, but replaced. */
function copyOf(minute: DecidedMinute): DecidedMinute {
  return { ...minute };
}
