import { roomFor, type TenantId } from '@tollkeeper/kernel';
import { LRUCache } from 'lru-cache';

/** Time without questions about a workspace after one has failed. */
const PAUSE_MS = 1_000;
const MAX_WORKSPACES = 10_000;

/** A question with this many ids is full, so that nobody waits long for the ids of others. */
const MAX_IDS = 2_000;

interface Question {
  ids: Set<string>;
  isSent: boolean;
  answered: Promise<void>;
}

interface Turn {
  /** The question about a workspace that is in progress, and the next ones. */
  questions: Question[];
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
 * Asks one question about a workspace at a time. Those who ask meanwhile share the next one. Questions that wait behind
 * one that fails are not sent but fail as well, since their callers would wait for another failure.
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
    const turn: Turn = { questions: [], failed: null };
    turns.set(tenantId, turn);
    return turn;
  }

  function append(tenantId: TenantId, turn: Turn): Question {
    const before = turn.questions.at(-1)?.answered ?? Promise.resolve();
    const ids = new Set<string>();
    const answered = before
      .then(() => {
        question.isSent = true;
        return send(tenantId, [...ids]);
      })
      .finally(() => turn.questions.shift());
    const question: Question = { ids, isSent: false, answered };
    turn.questions.push(question);
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
      const { questions, failed } = turn;
      if (failed !== null && now() < failed.retryAt) return { answered: failed.question.answered, hasFailed: true };
      // Longer after a failure, nobody knows whether the next question fails too, so it is better to wait for it.
      const hasFailed = failed !== null && now() < failed.retryAt + PAUSE_MS;
      const [first] = questions;
      if (first?.isSent === true && ids.every((id) => first.ids.has(id)))
        return { answered: first.answered, hasFailed };
      const last = questions.at(-1);
      const open = last?.isSent === false && last.ids.size < MAX_IDS ? last : append(tenantId, turn);
      for (const id of ids) open.ids.add(id);
      return { answered: open.answered, hasFailed };
    },
  };
}
