import { type CountableEvent, MAX_LATENESS_MS, MAX_RECEIPT_DISORDER_MS } from './event.ts';

/** Maximum number of alerts that a rule makes in a minute of event time. */
export const MAX_ALERTS_PER_MINUTE = 60;

/**
 * Why a rule did not fire although its condition was met: it fired recently, or too often within the minute. Or too
 * little is known of the past.
 */
export type SuppressionReason = 'cooldown' | 'rate_limited' | 'learning';

/** The position of a decision among those of its rule. */
export interface DecisionPlace {
  /** Numbers the rule's decisions from 1. A later decision with the same number replaces the earlier one. */
  number: number;
  /** Number of events that the decision covers. */
  count: number;
}

/** The decisions of a rule about events of one minute of event time. */
interface DecidedMinute {
  /** Minutes since the epoch. */
  minute: number;
  fired: number;
  /** All suppressions of the minute for one reason are one decision; null before the first. */
  cooldown: DecisionPlace | null;
  rate_limited: DecisionPlace | null;
  /** Absent if an earlier release stored the minute. */
  learning?: DecisionPlace | null;
}

/** The stored form of {@link RuleHistory}. */
export interface SavedHistory {
  /** Event time at which the rule last fired, epoch milliseconds. */
  lastFiredAt: number | null;
  /** Number of the last decision. */
  decisions: number;
  minutes: DecidedMinute[];
}

const MINUTE_MS = 60_000;
const EMPTY: SavedHistory = { lastFiredAt: null, decisions: 0, minutes: [] };

/**
 * The part of a rule's past decisions that affects the next ones, across all revisions. Bounded: minutes that no event
 * can reach any more are forgotten.
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

  /** Whether the rule has made the maximum number of alerts in the minute of the event. */
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
    const known = minute[reason] ?? null;
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

/** A shallow copy suffices: places are replaced, never changed. */
function copyOf(minute: DecidedMinute): DecidedMinute {
  return { ...minute };
}
