import type { Metrics } from '@tollkeeper/runtime';
import type { Op } from '../domain/journal.ts';
import { type Ledger, sumOf } from '../domain/ledger.ts';
import { OVERSPEND_CAUSES, type OverspendCause } from '../domain/limit.ts';

type Unreadable = 'snapshot' | 'entry';

/** Metrics of the work on ledgers. */
export interface LedgerMetrics {
  /** A turn has ended, whose first request arrived this many milliseconds ago. */
  turnEnded(ms: number): void;
  lostRace(): void;
  /** This replica has appended the op; not applied yet. */
  committed(ledger: Ledger, op: Op): void;
  /** This version cannot read a snapshot or a journal entry. */
  unreadable(what: Unreadable): void;
}

export function createLedgerMetrics(metrics: Metrics): LedgerMetrics {
  const turns = metrics.histogram({
    name: 'enforcer_turn_duration_seconds',
    help: 'Time from the first request of a batch to its entry in the journal',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
  });
  const lost = metrics.counter({
    name: 'enforcer_lost_races_total',
    help: 'Batches decided again because another replica wrote the next journal entry',
  });
  const overspend = metrics.counter({
    name: 'enforcer_overspend_micros_total',
    help: 'USD micros spent beyond reservations, by cause',
    labelNames: ['cause'],
  });
  const expired = metrics.counter({
    name: 'enforcer_expired_holds_total',
    help: 'Reservations that expired before they were settled or released',
  });
  const unreadable = metrics.counter({
    name: 'enforcer_unreadable_total',
    help: 'Failed attempts to read a snapshot or a journal entry that this version does not understand',
    labelNames: ['what'],
  });

  // Exposed as 0 from the start, so that Prometheus sees the first increase.
  for (const cause of OVERSPEND_CAUSES) overspend.inc({ cause }, 0);
  for (const what of ['snapshot', 'entry'] satisfies Unreadable[]) unreadable.inc({ what }, 0);

  return {
    turnEnded: (ms) => turns.observe(ms / 1000),
    lostRace: () => lost.inc(),
    committed(ledger, op) {
      const [cause, micros] = beyondHold(ledger, op);
      if (micros > 0) overspend.inc({ cause }, micros);
      if (op.op === 'expire' && op.lease === undefined) expired.inc();
    },
    unreadable: (what) => unreadable.inc({ what }),
  };
}

function beyondHold(ledger: Ledger, op: Op): [OverspendCause, number] {
  if (op.op === 'settle' && !op.counted) return ['above_hold', op.micros - (ledger.hold(op.id)?.amountMicros ?? 0)];
  if (op.op === 'draw') return ['above_hold', sumOf(op) - (ledger.hold(op.id)?.amountMicros ?? 0)];
  if (op.op === 'draw_late') return ['late', sumOf(op)];
  if (op.op === 'late' && !op.counted) return ['late', op.micros];
  return op.op === 'post' ? ['unreserved', op.micros] : ['unreserved', 0];
}
