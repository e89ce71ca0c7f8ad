import { type Cause, invalidRequest, MAX_PAUSES } from '@tollkeeper/contracts';
import { AppError, type Clock, newId, type TenantId } from '@tollkeeper/kernel';
import type { Pause, PauseDraft, PauseStore } from './pause.ts';

/** How long a pause lasts at most, and unless somebody says. */
const MAX_DAYS = 31;
const MAX_PAUSE_MS = MAX_DAYS * 86_400_000;

export interface PauseUseCases {
  /** Those that have not ended, newest first. */
  list(tenantId: TenantId): Promise<Pause[]>;
  /**
   * Pauses calls, without a time for as long as possible. If they are paused already, that pause gets the new time and
   * reason. Rejects with `invalid_request` for a time that is over or too late, and with `conflict` if the workspace
   * has {@link MAX_PAUSES}.
   */
  pause(tenantId: TenantId, draft: Omit<PauseDraft, 'until'> & { until?: Date }, cause: Cause): Promise<Pause>;
  /** Rejects with `not_found` if the workspace has no such pause, or it has ended. */
  end(tenantId: TenantId, id: string, cause: Cause): Promise<void>;
}

export function createPauseUseCases({ store, clock }: { store: PauseStore; clock: Clock }): PauseUseCases {
  return {
    async list(tenantId) {
      return (await store.list(tenantId, new Date(clock()))).reverse();
    },

    async pause(tenantId, draft, cause) {
      const now = new Date(clock());
      const until = draft.until ?? new Date(now.getTime() + MAX_PAUSE_MS);
      requirePossible(until, now);
      const { id: user, name } = cause.actor;
      const decide = (open: readonly Pause[]) => {
        const before = open.find(({ scope, value }) => scope === draft.scope && value === draft.value) ?? null;
        if (before === null && open.length >= MAX_PAUSES) throw tooMany();
        const id = before?.id ?? newId('pau');
        const after = { ...draft, id, until, pausedBy: { id: user, name }, createdAt: before?.createdAt ?? now };
        return { before, after };
      };
      return (await store.change(tenantId, now, decide, cause)).after;
    },

    async end(tenantId, id, cause) {
      const decide = (open: readonly Pause[]) => {
        const before = open.find((pause) => pause.id === id);
        return before === undefined ? null : { before, after: null };
      };
      if ((await store.change(tenantId, new Date(clock()), decide, cause)) !== null) return;
      throw new AppError('not_found', 'This workspace has no pause with that pause_id, or it has ended.');
    },
  };
}

function requirePossible(until: Date, now: Date): void {
  const problem = (message: string) => invalidRequest([{ path: 'until', message }], 1);
  if (until <= now) throw problem('must be in the future');
  if (until.getTime() > now.getTime() + MAX_PAUSE_MS) throw problem(`must be at most ${MAX_DAYS} days from now`);
}

function tooMany(): AppError {
  const message = `The workspace has ${MAX_PAUSES} pauses, the maximum. End one, or pause a label that the calls share.`;
  return new AppError('conflict', message);
}
