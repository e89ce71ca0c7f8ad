import type { NamedFact } from '@tollkeeper/call-facts';
import { MAX_REFUSAL, MAX_REPORT_REASONS, MAX_REPORT_TEXT, type ReportContent } from '@tollkeeper/contracts';
import { AppError } from '@tollkeeper/kernel';
import { isUnpriced, type PricedCall } from './call-price.ts';
import type { Reading } from './call-record.ts';

type ReportedCall = ReportContent['firstCalls'][number];

const NOTHING: ReportContent = { records: 0, calls: 0, firstCalls: [], notCalls: [], refusal: '' };

/** What was understood of a body, for people who connect its sender. It has no prompts, as mapping reads none. */
export function reportOf(records: number, { facts, notCalls }: Reading, calls: readonly PricedCall[]): ReportContent {
  return {
    ...NOTHING,
    records,
    calls: calls.length,
    firstCalls: facts.map((ofCall, index) => reportedCall(calls[index]!, ofCall)),
    notCalls: [...notCalls].slice(0, MAX_REPORT_REASONS).map(([reason, of]) => ({ reason, records: of })),
  };
}

/** The report of a body that was refused. */
export function refusedReport(error: unknown): ReportContent {
  const message = error instanceof AppError ? error.message : 'Something went wrong on our side.';
  return { ...NOTHING, refusal: message.slice(0, MAX_REFUSAL).toWellFormed() };
}

/** The report of metrics, which nobody reads. */
export const METRICS_REPORT: ReportContent = {
  ...NOTHING,
  records: 1,
  notCalls: [{ reason: 'metrics are sums without the ids of calls, and count nothing', records: 1 }],
};

/** What became of a call. */
export function outcomeOf(call: PricedCall): ReportedCall['outcome'] {
  const { outcome } = call;
  switch (outcome) {
    case 'spent':
      return isUnpriced(call) ? 'unpriced' : 'settled';
    case 'denied':
      return 'failed';
    case 'failed':
    case 'no_usage':
    case 'client_gone':
      return outcome;
  }
}

function reportedCall(call: PricedCall, facts: readonly NamedFact[]): ReportedCall {
  const { agentId, price } = call;
  return {
    outcome: outcomeOf(call),
    agentId,
    ...(price.pricedBy === 'none' ? { pricedBy: '' } : { pricedBy: price.pricedBy, amountMicros: price.micros }),
    facts: facts.map(({ fact, name, value }) => ({ fact, name: short(name), value: short(show(value)) })),
  };
}

/** Numbers of tokens and costs have further fields beside the number. */
function show(value: unknown): string {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    if ('text' in value) return String(value.text);
    if ('value' in value) return String(value.value);
  }
  return String(value);
}

/** Half of a character outside of the basic plane cannot be sent. */
function short(text: string): string {
  return text.length > MAX_REPORT_TEXT ? `${text.slice(0, MAX_REPORT_TEXT - 1).toWellFormed()}…` : text.toWellFormed();
}
