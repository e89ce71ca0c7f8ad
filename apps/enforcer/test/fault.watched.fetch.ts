import type { JournalLine } from './fault.journal.ts';
import type { LimitNumbers } from './fault.calls.ts';

/** The parts of questions and answers that matter here. */
interface Asked {
  request_id: string;
  /** What a lease must have at least. A reservation needs all of its amount. */
  min_micros?: number;
  amount_micros: number;
}
interface Answered {
  decision?: string;
  denial?: LimitNumbers;
  limits?: LimitNumbers[];
  lease?: { id: string };
  results?: { settlement_id: string; outcome: string }[];
  settlement_id?: string;
}

interface WatchedFetchOptions {
  /** The port of any replica. */
  port: () => number;
  write: (line: JournalLine) => void;
  onGranted: (askedAt: number) => void;
}

/** Sends the requests of a client to any replica, checks each decision, and writes down what was settled. */
export function createWatchedFetch({ port, write, onGranted }: WatchedFetchOptions): typeof fetch {
  /** How often each request was sent that has no answer yet. */
  const sent = new Map<string, number>();
  const problem = (text: string, facts: object) =>
    write({ kind: 'problem', text: `${text}: ${JSON.stringify(facts)}` });

  function checkDecision({ request_id, amount_micros, min_micros = amount_micros }: Asked, answer: Answered): void {
    const { denial, limits = [], lease } = answer;
    const isFirst = sent.get(request_id) === 1;
    sent.delete(request_id);
    if (denial !== undefined) {
      const isRoom = denial.spent_micros + denial.held_micros + min_micros <= denial.limit_micros;
      if (isRoom) problem('denied though there is room', { denial, min_micros });
      return;
    }
    if (lease !== undefined) write({ kind: 'lease', leaseId: lease.id });
    // A repeated answer has the limits of that later time.
    if (!isFirst) return;
    for (const row of limits) {
      if (row.spent_micros + row.held_micros > row.limit_micros) problem('granted above a limit', row);
    }
    write({ kind: 'count', what: lease === undefined ? 'grants checked' : 'lease grants checked' });
  }

  function noteSettled({ results, settlement_id }: Answered): void {
    const outcomes = new Map<string, string[]>();
    const all = results ?? [{ settlement_id: settlement_id ?? '', outcome: 'settled' }];
    for (const { outcome, settlement_id: id } of all) outcomes.set(outcome, [...(outcomes.get(outcome) ?? []), id]);
    for (const [outcome, settlementIds] of outcomes) write({ kind: 'settled', outcome, settlementIds });
  }

  return async (input, init) => {
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    const asked = JSON.parse(typeof init?.body === 'string' ? init.body : '{}') as Asked;
    const isDecision = pathname.endsWith('/reservations') || pathname.endsWith('/leases');
    if (isDecision) sent.set(asked.request_id, (sent.get(asked.request_id) ?? 0) + 1);
    const askedAt = Date.now();
    const response = await fetch(`http://127.0.0.1:${port()}${pathname}`, init);
    const text = await response.text();
    if (response.ok) {
      const answer = JSON.parse(text) as Answered;
      if (isDecision) checkDecision(asked, answer);
      if (isDecision && answer.decision === 'allowed') onGranted(askedAt);
      if (pathname.endsWith(':settle')) noteSettled(answer);
    }
    return new Response(text, { status: response.status, headers: response.headers });
  };
}
