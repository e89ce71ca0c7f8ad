import type { Labels } from '@tollkeeper/contracts';
import type { Op } from '../src/domain/journal.ts';
import { applyOp } from '../src/domain/ledger.ts';
import { createLedger, type LedgerState } from '../src/domain/ledger.state.ts';

const DAY_MS = 86_400_000;

/** A ledger in which every day up to that of `now` has this many agents and plans, all with spend. */
export function largeLedger(
  now: number,
  { days, agents, holds = 0, labels = 0 }: { days: number; agents: number; holds?: number; labels?: number },
): LedgerState {
  const ledger = createLedger();
  const today = Math.floor(now / DAY_MS) * DAY_MS;
  const name = (index: number) => String(index).padStart(5, '0');
  const of = (index: number) => ({ agentId: `agent:${name(index)}`.padEnd(60, '-'), planKey: `plan_${name(index)}` });
  for (let ago = days - 1; ago >= 0; ago -= 1) {
    const day = today - ago * DAY_MS;
    applyOp(ledger, { op: 'day', start: day, end: day + DAY_MS, timezone: 'UTC' });
    for (let index = 0; index < agents; index += 1) {
      const spent: Op = { op: 'post', settlementId: 's', micros: 5_000_000_000 + index, day, ...of(index) };
      applyOp(ledger, spent);
    }
  }
  for (let index = 0; index < holds; index += 1) {
    const hold = {
      id: `rsv_${name(index)}`.padEnd(36, '0'),
      requestId: `request-${name(index)}`,
      runId: `run-${index}`,
      ...(labels > 0 && { labels: labelsOf(index, labels) }),
    };
    const times = { ttlSeconds: 600, createdAt: now, expiresAt: now + 600_000 };
    applyOp(ledger, { op: 'grant', ...hold, ...times, ...of(index), amountMicros: 7, day: today });
  }
  return ledger;
}

function labelsOf(index: number, count: number): Labels {
  return Object.fromEntries(Array.from({ length: count }, (_, nth) => [`label_${nth}`, `value ${nth} of ${index}`]));
}
