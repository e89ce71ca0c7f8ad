import TinyQueue from 'tinyqueue';
import { endOf, type Op, type OpOf } from '../domain/journal.ts';
import { applyOp, type Ledger } from '../domain/ledger.ts';
import type { LedgerState } from '../domain/ledger.state.ts';

/** Maximum number of holds that one entry ends. */
export const MAX_DUE = 2_000;
/** Maximum number of outdated entries, in addition to the number of holds. */
const MAX_FORMER_ENDS = 1_000;

type EndOp = OpOf<'expire' | 'release'>;

/** Knows when the holds of a ledger are past their time. */
export interface HoldTimer {
  /** Starts over with all holds of a ledger that was loaded. */
  restart(of: LedgerState): void;
  /** Takes note of a hold's new end. Call it after the op has been applied to the ledger. */
  note(op: Op, on: LedgerState): void;
  /** Whether a hold may be past its time. */
  isDue(now: number): boolean;
  /**
   * Applies the ops that end holds past their time, at most {@link MAX_DUE}. If the ops do not get into the journal,
   * put them back.
   */
  takeDue(draft: Ledger, now: number): EndOp[];
  putBack(ops: readonly EndOp[]): void;
  clear(): void;
}

export function createHoldTimer(): HoldTimer {
  /** The holds by their end. May contain former ends of holds that were extended or have ended. */
  const ends = new TinyQueue<{ id: string; at: number }>([], (a, b) => a.at - b.at);

  function restart(of: LedgerState): void {
    ends.data = [...of.holds()].map(({ id, expiresAt }) => ({ id, at: expiresAt })).sort((a, b) => a.at - b.at);
    ends.length = ends.data.length;
  }

  return {
    restart,
    note(op, on) {
      if (!setsEnd(op)) return;
      ends.push({ id: op.id, at: op.expiresAt });
      // Repeated extensions of a hold must not fill the memory with its former ends.
      if (ends.length > 2 * on.holdCount + MAX_FORMER_ENDS) restart(on);
    },
    isDue(now) {
      const next = ends.peek();
      return next !== undefined && next.at <= now;
    },
    takeDue(draft, now) {
      const ops: EndOp[] = [];
      for (let next = ends.peek(); next !== undefined && next.at <= now; next = ends.peek()) {
        if (ops.length === MAX_DUE) return ops;
        ends.pop();
        const hold = draft.hold(next.id);
        if (hold === undefined || hold.expiresAt > now) continue;
        const op: EndOp = { op: hold.failed ? 'release' : 'expire', ...endOf(hold) };
        applyOp(draft, op);
        ops.push(op);
      }
      return ops;
    },
    putBack(ops) {
      for (const { id, expiresAt } of ops) ends.push({ id, at: expiresAt });
    },
    clear() {
      ends.data = [];
      ends.length = 0;
    },
  };
}

const SETTING_ENDS: ReadonlySet<string> = new Set<Op['op']>(['grant', 'lease', 'extend', 'renew']);

function setsEnd(op: Op): op is OpOf<'grant' | 'lease' | 'extend' | 'renew'> {
  return SETTING_ENDS.has(op.op);
}
