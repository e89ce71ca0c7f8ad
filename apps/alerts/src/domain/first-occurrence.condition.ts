import type { Condition } from './condition.ts';
import { createCoverage, type Span } from './coverage.ts';
import { MAX_LATENESS_MS } from './event.ts';

/** How far behind the newest one the `receivedAt` of a record may be: the clocks of several writers differ. */
const MAX_RECEIPT_DISORDER_MS = 5 * 60_000;

/**
 * `first_occurrence` (decisions §6): no other matching event lies in `(time - windowMs, time]` of the event. It is true of an
 * event and does not last, so it is never `still_true`; it counts as met for `windowMs` after the newest matching event.
 *
 * What a late event can no longer reach is forgotten, so that at most the lateness over `windowMs` spans are kept.
 */
export function createFirstOccurrenceCondition(windowMs: number, saved?: readonly Span[]): Condition {
  const covered = createCoverage(windowMs, saved);

  return {
    take({ time, receivedAt }) {
      const first = covered.add(time);
      covered.forgetUntil(receivedAt - MAX_LATENESS_MS - MAX_RECEIPT_DISORDER_MS);
      return first ? 'became_true' : 'not_met';
    },
    evidence({ id, time }) {
      return {
        windowStart: time - windowMs,
        windowEnd: time,
        eventCount: 1,
        sampleEventIds: [id],
        firstEventAt: time,
        lastEventAt: time,
      };
    },
    metUntil: () => covered.end(),
    save: () => ({ spans: covered.spans() }),
  };
}
