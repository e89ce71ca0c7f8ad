import type { DenialMessage, LimitScope, LimitStatusMessage } from '@tollkeeper/contracts';
import type { Denial, LimitRow } from '../domain/limit.ts';
import { budgetOf } from '../domain/limit.rows.ts';
import { denialCodeOf } from '../domain/pause.denial.ts';

export function toLimitMessage(row: LimitRow): LimitStatusMessage {
  return { ...toLimitFields(row), remainingMicros: row.remainingMicros, isFilling: row.state === 'filling' };
}

export function toDenialMessage(denial: Denial): DenialMessage {
  const { requestedMicros, message, pause } = denial;
  const ofPause = pause === undefined ? {} : { pauseId: pause.id, pauseReason: pause.reason };
  return { ...toLimitFields(denial), requestedMicros, message, code: denialCodeOf(denial), ...ofPause };
}

function toLimitFields(limit: LimitRow & Pick<Denial, 'pause'>) {
  const { id, name, value, period } = budgetOf(limit);
  return {
    scope: toWireScope(limit.scope),
    scopeId: limit.scopeId,
    dailyBudgetUsdMicros: limit.limitMicros,
    spentMicros: limit.spentMicros,
    heldMicros: limit.heldMicros,
    resetsAt: toTimestamp(limit.resetsAt),
    budgetId: id,
    budgetName: name,
    ...(value !== undefined && { value }),
    limitMicros: limit.limitMicros,
    ...(limit.raised && { raisedMicros: limit.raised.micros, raisedUntil: toTimestamp(limit.raised.until) }),
    period: { kind: period, start: toTimestamp(limit.period.start), end: toTimestamp(limit.period.end) },
  };
}

function toWireScope<S extends LimitScope>(scope: S) {
  return `LIMIT_SCOPE_${scope.toUpperCase() as Uppercase<S>}` as const;
}

/** Epoch milliseconds as a google.protobuf.Timestamp. */
export function toTimestamp(time: number) {
  return { seconds: Math.floor(time / 1000), nanos: (time % 1000) * 1_000_000 };
}
