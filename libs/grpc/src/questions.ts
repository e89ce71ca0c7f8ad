import { roomFor, type TenantId } from '@tollkeeper/kernel';
import { LRUCache } from 'lru-cache';

/** Time without questions about a workspace after one has failed. */
const PAUSE_MS = 1_000;
const MAX_WORKSPACES = 10_000;

interface Question {
  ids: Set<string>;
  answered: Promise<void>;
}

/** The question about a workspace that is in progress, and the next one. */
interface Turn {
  asked: Question | null;
  next: Question | null;
  /** The question that has failed, and when the next one may be asked; null after an answer. */
  failed: { question: Question; retryAt: number } | null;
}

export interface Questions {
  /**
   * `answered` resolves once the ids are answered, and rejects if that fails. For a second after a failure, it rejects
   * without a question. `hasFailed`: the last question has just failed, so it is better not to wait.
   */
  ask(tenantId: TenantId, ids: readonly string[]): { answered: Promise<void>; hasFailed: boolean };
}

/**
 * Asks one question about a workspace at a time. All who ask meanwhile share the next one; after a failure, that one is
 * not sent but fails as well, since its callers would wait for another failure.
 */
export function createQuestions(
  send: (tenantId: TenantId, ids: readonly string[]) => Promise<void>,
  /** Monotonic milliseconds. */
  now: () => number,
): Questions {
  // If a workspace is evicted during a question, a second question may run in parallel, which does no harm.
  const turns = new LRUCache<TenantId, Turn>(roomFor(MAX_WORKSPACES));

  function turnOf(tenantId: TenantId): Turn {
    const present = turns.get(tenantId);
    if (present !== undefined) return present;
    const turn: Turn = { asked: null, next: null, failed: null };
    turns.set(tenantId, turn);
    return turn;
  }

  function append(tenantId: TenantId, turn: Turn): Question {
    const ids = new Set<string>();
    const answered = (turn.asked?.answered ?? Promise.resolve())
      .finally(() => {
        turn.asked = turn.next;
        turn.next = null;
      })
      .then(() => send(tenantId, [...ids]))
      .finally(() => {
        turn.asked = null;
      });
    const question = { ids, answered };
    answered.then(
      () => {
        turn.failed = null;
      },
      () => {
        turn.failed = { question, retryAt: now() + PAUSE_MS };
      },
    );
    return question;
  }

  return {
    ask(tenantId, ids) {
      const turn = turnOf(tenantId);
      const { asked, failed } = turn;
      if (failed !== null && now() < failed.retryAt) return { answered: failed.question.answered, hasFailed: true };
      // Longer after a failure, nobody knows whether the next question fails too, so it is better to wait for it.
      const hasFailed = failed !== null && now() < failed.retryAt + PAUSE_MS;
      if (asked !== null && ids.every((id) => asked.ids.has(id))) return { answered: asked.answered, hasFailed };
      turn.next ??= append(tenantId, turn);
      for (const id of ids) turn.next.ids.add(id);
      return { answered: turn.next.answered, hasFailed };
    },
  };
}
