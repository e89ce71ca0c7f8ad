import type { AuditTrail } from '@tollkeeper/audit-trail';
import type { AuditedFields, Cause } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';
import { changeInTurn } from '@tollkeeper/mongo';
import { type ClientSession, type Connection, Schema } from 'mongoose';
import {
  AUDITED_SILENCE,
  AUDITED_WINDOW,
  type ChangedMute,
  type MaintenanceWindow,
  MAX_ENDED_SILENCES,
  MAX_SILENCES,
  type Mutes,
  type MuteStore,
  type Silence,
} from '../domain/mute.ts';

/** In one document, so that concurrent changes conflict in all replicas, and an alert that fires needs one read. */
interface StoredMutes extends Mutes {
  /** The tenant. */
  _id: string;
}

const list = { type: Schema.Types.Mixed, required: true } as const;
const mutesSchema = new Schema<StoredMutes>(
  { _id: { type: String, required: true }, silences: list, windows: list },
  { collection: 'mutes', versionKey: false },
);

/** Silences and maintenance windows, with what other stores read in their transactions. */
export interface MongoMuteStore extends MuteStore {
  inTransaction(session: ClientSession, tenantId: TenantId): Promise<Mutes>;
}

/** In the database of `connection`. Make it before the connection starts. */
export function createMuteStore(connection: Connection, trail: AuditTrail): MongoMuteStore {
  const workspaces = connection.model<StoredMutes>('Mutes', mutesSchema);

  async function read(tenantId: TenantId, session?: ClientSession): Promise<Mutes> {
    const stored = await workspaces.findById(tenantId, null, session && { session }).lean();
    return { silences: stored?.silences ?? [], windows: stored?.windows ?? [] };
  }

  function change<T extends { id: string }, C extends ChangedMute<T>>(
    kind: MuteKind<T>,
    tenantId: TenantId,
    decide: (mutes: Mutes) => C,
    cause: Cause,
  ): Promise<C> {
    return changeInTurn(connection, tenantId, async (session) => {
      const mutes = await read(tenantId, session);
      const changed = decide(mutes);
      const { before, after } = changed;
      const known = after ?? before;
      if (known === null || before === after) return changed;
      await workspaces.replaceOne({ _id: tenantId }, kind.apply(mutes, changed), { session, upsert: true });
      const target = { type: kind.type, id: known.id, name: kind.nameOf(known) };
      await trail.recordChange(session, tenantId, cause, { target, fields: kind.fields, before, after });
      return changed;
    });
  }

  return {
    read: (tenantId) => read(tenantId),
    inTransaction: (session, tenantId) => read(tenantId, session),
    changeSilence: (tenantId, decide, cause) => change(SILENCES, tenantId, decide, cause),
    changeWindow: (tenantId, decide, cause) => change(WINDOWS, tenantId, decide, cause),
  };
}

interface MuteKind<T> {
  /** As the audit log names it. */
  type: string;
  nameOf: (mute: T) => string;
  fields: AuditedFields<T>;
  apply: (mutes: Mutes, changed: ChangedMute<T>) => Mutes;
}

const SILENCES: MuteKind<Silence> = {
  type: 'silence',
  nameOf: ({ reason }) => reason,
  fields: AUDITED_SILENCE,
  apply: ({ silences, windows }, changed) => ({ silences: withoutOldest(replaced(silences, changed)), windows }),
};

const WINDOWS: MuteKind<MaintenanceWindow> = {
  type: 'maintenance',
  nameOf: ({ name }) => name,
  fields: AUDITED_WINDOW,
  apply: ({ silences, windows }, changed) => ({ silences, windows: replaced(windows, changed) }),
};

function replaced<T extends { id: string }>(of: readonly T[], { before, after }: ChangedMute<T>): T[] {
  if (before === null) return after === null ? [...of] : [...of, after];
  return of.flatMap((each) => (each.id === before.id ? (after ?? []) : each));
}

/** Those that ended first go first. At most {@link MAX_SILENCES} have not ended, so those always stay. */
function withoutOldest(silences: readonly Silence[]): readonly Silence[] {
  const excess = silences.length - MAX_SILENCES - MAX_ENDED_SILENCES;
  if (excess <= 0) return silences;
  const gone = new Set(silences.toSorted((a, b) => a.endsAt.getTime() - b.endsAt.getTime()).slice(0, excess));
  return silences.filter((each) => !gone.has(each));
}
