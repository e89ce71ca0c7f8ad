import { type Cause, invalidRequest } from '@tollkeeper/contracts';
import { AppError, type Clock, newId, type TenantId } from '@tollkeeper/kernel';
import {
  type MaintenanceDraft,
  type MaintenanceWindow,
  MAX_SILENCES,
  MAX_WINDOWS,
  type Mutes,
  type MuteStore,
  type Silence,
  type SilenceDraft,
  stateOf,
} from './mute.ts';

/** How long a silence lasts at most, and how far away it may start. */
const MAX_DAYS = 31;
const MAX_SILENCE_MS = MAX_DAYS * 86_400_000;

/** Every method rejects with `not_found` for a silence or window of another workspace. */
export interface MuteUseCases {
  /** Newest first. */
  silences(tenantId: TenantId): Promise<Silence[]>;
  /**
   * Starts now unless the draft says otherwise. Rejects with `invalid_request` for times that are over or too far away,
   * and with `conflict` if the workspace has {@link MAX_SILENCES} that have not ended.
   */
  createSilence(tenantId: TenantId, draft: NewSilence, cause: Cause): Promise<Silence>;
  /** Changes the end. Rejects with `conflict` if the silence has ended. */
  editSilence(tenantId: TenantId, id: string, endsAt: Date, cause: Cause): Promise<Silence>;
  /** Ends the silence now. Ending it again changes nothing. */
  endSilence(tenantId: TenantId, id: string, cause: Cause): Promise<Silence>;

  /** Oldest first. */
  windows(tenantId: TenantId): Promise<readonly MaintenanceWindow[]>;
  /** Rejects with `conflict` if the name is taken or the workspace has {@link MAX_WINDOWS}. */
  createWindow(tenantId: TenantId, draft: MaintenanceDraft, cause: Cause): Promise<MaintenanceWindow>;
  /** `edit` makes the new window from the current one and may run again on a newer one. */
  editWindow(
    tenantId: TenantId,
    id: string,
    edit: (current: MaintenanceDraft) => MaintenanceDraft,
    cause: Cause,
  ): Promise<MaintenanceWindow>;
  deleteWindow(tenantId: TenantId, id: string, cause: Cause): Promise<void>;
}

type NewSilence = Omit<SilenceDraft, 'startsAt'> & { startsAt?: Date };

export function createMuteUseCases({ store, clock }: { store: MuteStore; clock: Clock }): MuteUseCases {
  return { ...silenceUseCases(store, clock), ...windowUseCases(store, clock) };
}

type OfSilences = 'silences' | 'createSilence' | 'editSilence' | 'endSilence';

function silenceUseCases(store: MuteStore, clock: Clock): Pick<MuteUseCases, OfSilences> {
  return {
    silences: async (tenantId) => (await store.read(tenantId)).silences.toReversed(),

    async createSilence(tenantId, draft, cause) {
      const now = clock();
      const startsAt = new Date(Math.max(now, draft.startsAt?.getTime() ?? now));
      requirePossible(startsAt, draft.endsAt, now);
      const made = { ...draft, startsAt, id: newId('sil'), version: 1, createdAt: new Date(now), ...createdBy(cause) };
      const decide = ({ silences }: Mutes) => {
        if (silences.filter((each) => stateOf(each, now) !== 'expired').length >= MAX_SILENCES) {
          const message = `The workspace has ${MAX_SILENCES} silences that have not ended, the maximum. End one, or let one matcher fit more alerts.`;
          throw new AppError('conflict', message);
        }
        return { before: null, after: made };
      };
      return (await store.changeSilence(tenantId, decide, cause)).after;
    },

    async editSilence(tenantId, id, endsAt, cause) {
      const now = clock();
      const decide = ({ silences }: Mutes) => {
        const before = requireOne(silences, id, 'silence');
        if (stateOf(before, now) === 'expired') {
          throw new AppError('conflict', 'The silence has ended. Create another one.');
        }
        requirePossible(before.startsAt, endsAt, now);
        return { before, after: { ...before, endsAt, version: before.version + 1 } };
      };
      return (await store.changeSilence(tenantId, decide, cause)).after;
    },

    async endSilence(tenantId, id, cause) {
      const now = clock();
      const decide = ({ silences }: Mutes) => {
        const before = requireOne(silences, id, 'silence');
        if (stateOf(before, now) === 'expired') return { before, after: before };
        const ended = { startsAt: new Date(Math.min(before.startsAt.getTime(), now)), endsAt: new Date(now) };
        return { before, after: { ...before, ...ended, version: before.version + 1 } };
      };
      return (await store.changeSilence(tenantId, decide, cause)).after;
    },
  };
}

function windowUseCases(store: MuteStore, clock: Clock): Omit<MuteUseCases, OfSilences> {
  return {
    windows: async (tenantId) => (await store.read(tenantId)).windows,

    async createWindow(tenantId, draft, cause) {
      const made = { ...draft, id: newId('mwin'), version: 1, createdAt: new Date(clock()), ...createdBy(cause) };
      const decide = ({ windows }: Mutes) => {
        if (windows.length >= MAX_WINDOWS) {
          const message = `The workspace has ${MAX_WINDOWS} maintenance windows, the maximum. Delete one that is not needed.`;
          throw new AppError('conflict', message);
        }
        requireFreeName(windows, made);
        return { before: null, after: made };
      };
      return (await store.changeWindow(tenantId, decide, cause)).after;
    },

    async editWindow(tenantId, id, edit, cause) {
      const decide = ({ windows }: Mutes) => {
        const before = requireOne(windows, id, 'maintenance window');
        const after = { ...before, ...edit(before), version: before.version + 1 };
        requireFreeName(windows, after);
        return { before, after };
      };
      return (await store.changeWindow(tenantId, decide, cause)).after;
    },

    async deleteWindow(tenantId, id, cause) {
      const decide = ({ windows }: Mutes) => ({ before: requireOne(windows, id, 'maintenance window'), after: null });
      await store.changeWindow(tenantId, decide, cause);
    },
  };
}

function createdBy({ actor: { id, name } }: Cause): Pick<Silence, 'createdBy'> {
  return { createdBy: { id, name } };
}

function requirePossible(startsAt: Date, endsAt: Date, now: number): void {
  const problem = (path: string, message: string) => invalidRequest([{ path, message }], 1);
  if (startsAt.getTime() > now + MAX_SILENCE_MS) throw problem('starts_at', `must be within ${MAX_DAYS} days from now`);
  if (endsAt.getTime() <= now) throw problem('ends_at', 'must be in the future');
  if (endsAt <= startsAt) throw problem('ends_at', 'must be after starts_at');
  if (endsAt.getTime() > startsAt.getTime() + MAX_SILENCE_MS) {
    throw problem('ends_at', `must be at most ${MAX_DAYS} days after starts_at`);
  }
}

function requireOne<T extends { id: string }>(of: readonly T[], id: string, noun: string): T {
  const found = of.find((each) => each.id === id);
  if (found === undefined) throw new AppError('not_found', `This workspace has no ${noun} with that id.`);
  return found;
}

function requireFreeName(windows: readonly MaintenanceWindow[], { id, name }: MaintenanceWindow): void {
  if (!windows.some((each) => each.id !== id && each.name === name)) return;
  throw new AppError('conflict', 'Another maintenance window of the workspace has this name. Choose another one.');
}
