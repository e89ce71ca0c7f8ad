import type { Op, Posting } from './journal.ts';

/** The reservation or the lease for which a settlement counted. */
export function reservationOf(counted: Op | null): string | null {
  switch (counted?.op) {
    case 'settle':
    case 'late':
    case 'draw':
    case 'draw_late':
      return counted.id;
    default:
      return null;
  }
}

/** What an op has posted under a settlement id. */
export function microsOf(counted: Op | null, settlementId: string): number | undefined {
  if (counted === null) return undefined;
  if ('micros' in counted) return counted.micros;
  if (!('settlements' in counted)) return undefined;
  return counted.settlements.find(([id]) => id === settlementId)?.[1];
}

/** The posting of spend to these accounts. */
export function postingOf({ day, agentId, planKey, accounts = [] }: Posting): Posting {
  return { day, agentId, planKey, ...(accounts.length > 0 && { accounts }) };
}
