import { startSlices } from '@tollkeeper/kernel';
import { tookTooLong } from '../domain/answer.time.ts';
import type { Ask, Audited, Context, Decided, LongRead } from '../domain/decision.ts';
import { keysOf, type Op, type PlacedOp } from '../domain/journal.ts';
import type { Ledger } from '../domain/ledger.ts';

/** A request that waits for its decision, with the callbacks for its answer. */
export interface Waiting {
  ask: Ask<unknown> | LongRead<unknown>;
  /** By `performance.now()`. */
  since: number;
  resolve(answer: unknown): void;
  reject(error: unknown): void;
}

type DecidedOne = Decided<unknown> | { refusal: unknown };
type AllDecided = { settle: (() => void)[]; audited: Audited[] } | { needs: true; keys: string[] };

/** Decides all requests on the draft, in order and in slices. Adds their ops to `ops`. */
export async function decideAll(
  batch: readonly Waiting[],
  draft: Ledger,
  ops: Op[],
  given: Omit<Context, 'find' | 'seqOf'> & { known: ReadonlyMap<string, PlacedOp | null> },
): Promise<AllDecided> {
  const { known, ...facts } = given;
  /** The ops of this batch, which are not in the journal yet: two requests of a batch may be the same. */
  const { seq } = facts;
  const drafted = new Map(ops.flatMap((op) => keysOf(op).map((key) => [key, { seq, op }] as const)));
  const find = (key: string): PlacedOp | null | undefined => drafted.get(key) ?? known.get(key);
  const context: Context = { ...facts, find: (key) => opOf(find(key)), seqOf: (key) => find(key)?.seq };
  const settle: (() => void)[] = [];
  const audited: Audited[] = [];
  const keys = new Set<string>();
  let needs = false;

  const slices = startSlices();
  for (const { ask, resolve, reject } of batch) {
    if (slices.usedUp()) await slices.next();
    const deciding = decide(ask, draft, context);
    const decided = deciding instanceof Promise ? await deciding : deciding;
    if ('needs' in decided) {
      needs = true;
      for (const key of decided.needs.keys ?? []) keys.add(key);
    } else if ('refusal' in decided) {
      settle.push(() => reject(decided.refusal));
    } else {
      settle.push(() => resolve(decided.answer));
      if (decided.audited !== undefined) audited.push(decided.audited);
      for (const op of decided.ops) {
        ops.push(op);
        for (const key of keysOf(op)) drafted.set(key, { seq, op });
      }
    }
  }
  return needs ? { needs, keys: [...keys] } : { settle, audited };
}

/** Rejects the requests whose callers no longer wait. Returns the others. */
export function dropLate(waiting: readonly Waiting[]): readonly Waiting[] {
  const now = performance.now();
  const isLate = ({ ask }: Waiting) => ask.deadline !== undefined && ask.deadline <= now;
  if (!waiting.some(isLate)) return waiting;
  for (const { reject } of waiting.filter(isLate)) reject(tookTooLong());
  return waiting.filter((request) => !isLate(request));
}

function opOf(placed: PlacedOp | null | undefined): Op | null | undefined {
  return placed?.op ?? (placed as null | undefined);
}

/** A failing request must not affect the others of its batch. */
function decide(ask: Waiting['ask'], draft: Ledger, context: Context): DecidedOne | Promise<DecidedOne> {
  const refuse = (refusal: unknown): DecidedOne => ({ refusal });
  try {
    const decided = ask.decide(draft, context);
    return decided instanceof Promise ? decided.catch(refuse) : decided;
  } catch (error) {
    return refuse(error);
  }
}
