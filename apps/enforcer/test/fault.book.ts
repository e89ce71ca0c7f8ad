import { type MadeCall, readJournal } from './fault.journal.ts';

/** The limits of a run with leases, one of each scope. */
export type LimitName = 'workspace' | 'agent' | 'plan';

/** What must be in a limit, in USD micros. */
export interface BookedSums {
  spent: number;
  aboveHold: number;
  late: number;
  unreserved: number;
}

interface BookDeps {
  /** Repeats the request until it is answered. */
  post: (path: string, body: object) => Promise<{ status: number; body: { results?: { outcome: string }[] } }>;
  /** The limits in which a call counts. */
  limitsOf: (call: Pick<MadeCall, 'agentId' | 'planKey'>) => LimitName[];
  count: (what: string) => void;
  problem: (text: string) => void;
}

export type FaultBook = ReturnType<typeof createFaultBook>;

/** What the process of a gateway has left behind. */
interface Remains {
  /** The calls of which it does not know how they count. */
  unanswered: MadeCall[];
  leaseIds: string[];
}

const MOST_IN_REQUEST = 200;

/** Adds up what gateways wrote down, and so what every limit must have in the end. */
export function createFaultBook({ post, limitsOf, count, problem }: BookDeps) {
  const noSums = (): BookedSums => ({ spent: 0, aboveHold: 0, late: 0, unreserved: 0 });
  const sums: Record<LimitName, BookedSums> = { workspace: noSums(), agent: noSums(), plan: noSums() };
  /** By settlement. */
  const micros = new Map<string, number>();

  function add(call: Pick<MadeCall, 'agentId' | 'planKey'>, amounts: Partial<BookedSums>): void {
    for (const limit of limitsOf(call)) {
      for (const term of Object.keys(amounts) as (keyof BookedSums)[]) sums[limit][term] += amounts[term] ?? 0;
    }
  }

  function made(call: MadeCall): void {
    const { settlementId, from, amountMicros: spent, heldMicros } = call;
    micros.set(settlementId, spent);
    // Amounts of leases are upper bounds.
    add(call, { spent, aboveHold: from.startsWith('rsv_') ? Math.max(0, spent - heldMicros) : 0 });
  }

  function settled(call: MadeCall, outcome: string): void {
    count(`settlements ${outcome}`);
    if (outcome === 'late') add(call, { late: call.amountMicros });
    else if (outcome !== 'settled') problem(`${call.settlementId} counts as ${outcome}`);
  }

  async function settleFrom(leaseId: string, calls: readonly MadeCall[]): Promise<void> {
    const settlements = calls.map(({ settlementId, amountMicros }) => ({
      ...{ settlement_id: settlementId, run_id: 'run-1', amount_micros: amountMicros },
    }));
    const { status, body } = await post(`/leases/${leaseId}:settle`, { settlements });
    for (const [index, call] of calls.entries()) settled(call, body.results?.[index]?.outcome ?? String(status));
  }

  return {
    sums,
    micros,
    unreserved(settlementId: string, call: Pick<MadeCall, 'agentId' | 'planKey'>, spent: number): void {
      micros.set(settlementId, spent);
      add(call, { spent, unreserved: spent });
    },
    /** Reads the journal of a process that has ended or makes no further calls. */
    async read(journal: string): Promise<Remains> {
      const unanswered = new Map<string, MadeCall>();
      const leaseIds: string[] = [];
      await readJournal(journal, (line) => {
        switch (line.kind) {
          case 'made':
            made(line.call);
            unanswered.set(line.call.settlementId, line.call);
            break;
          case 'settled':
            for (const id of line.settlementIds) {
              const call = unanswered.get(id);
              // It may be answered twice.
              if (call !== undefined) settled(call, line.outcome);
              unanswered.delete(id);
            }
            break;
          case 'durable':
            count('settled durably');
            if (unanswered.has(line.settlementId)) problem(`${line.settlementId} was durable without an answer`);
            break;
          case 'lease':
            leaseIds.push(line.leaseId);
            break;
          case 'count':
            count(line.what);
            break;
          case 'problem':
            problem(line.text);
        }
      });
      return { unanswered: [...unanswered.values()], leaseIds };
    },
    /** Settles what a killed process could not, as it would if it kept its journal. Each settlement counts once. */
    async settleAgain(calls: readonly MadeCall[]): Promise<void> {
      const byGrant = Map.groupBy(calls, ({ from }) => from);
      for (const [from, all] of byGrant) {
        if (from.startsWith('rsv_')) {
          const { settlementId, amountMicros } = all[0]!;
          const body = { settlement_id: settlementId, amount_micros: amountMicros };
          const { status } = await post(`/reservations/${from}:settle`, body);
          settled(all[0]!, status === 200 ? 'settled' : String(status));
        }
        for (let start = 0; from.startsWith('lse_') && start < all.length; start += MOST_IN_REQUEST) {
          await settleFrom(from, all.slice(start, start + MOST_IN_REQUEST));
        }
      }
    },
  };
}
