import type { AuditTrail } from '@tollkeeper/audit-trail';
import { type Clock, provenTenantId, type TenantId } from '@tollkeeper/kernel';
import { changeInTurn, toBuffer } from '@tollkeeper/mongo';
import type { SecretCipher } from '@tollkeeper/service';
import { type Connection, type Model, Schema, trusted } from 'mongoose';
import { SCHEDULE_KINDS, type ScheduleKind } from '../domain/schedule.ts';
import {
  AUDITED_EXPORT,
  type ExportSettings,
  exportTarget,
  type Schedule,
  type ScheduleClaims,
  type ScheduledExportStore,
} from '../domain/scheduled-exports.ts';

/** How long a process keeps a schedule after it has last been heard of. Then another one goes on. */
const LEASE_MS = 90_000;

interface StoredSettings extends Omit<ExportSettings, 'destination'> {
  _id: string;
  endpoint: string;
  region: string;
  bucket: string;
  accessKeyId: string;
  /** The secret access key, encrypted. */
  keyId: string;
  iv: Buffer;
  data: Buffer;
}

interface StoredSchedule extends Schedule {
  _id: string;
  /** Which process works on it; null for none. */
  claim: string | null;
}

const text = { type: String, required: true } as const;
const bytes = { type: Buffer, required: true } as const;
const date = { type: Date, required: true } as const;
const optionalText = { type: String, default: null } as const;
const optionalDate = { type: Date, default: null } as const;

const settingsSchema = new Schema<StoredSettings>(
  {
    _id: text,
    endpoint: text,
    region: text,
    bucket: text,
    prefix: { type: String, default: '' },
    accessKeyId: text,
    keyId: text,
    iv: bytes,
    data: bytes,
    format: text,
    groupBy: optionalText,
    timeOfDay: text,
    schedules: { type: [String], required: true },
    updatedAt: date,
  },
  { collection: 'export_settings', versionKey: false },
);

const scheduleSchema = new Schema<StoredSchedule>(
  {
    _id: text,
    tenantId: text,
    kind: text,
    period: text,
    dueAt: date,
    isAsked: { type: Boolean, default: false },
    failingSince: optionalDate,
    failures: { type: Number, default: 0 },
    problem: optionalText,
    upload: { type: Schema.Types.Mixed, default: null },
    results: { type: Schema.Types.Mixed, default: [] },
    claim: optionalText,
  },
  { collection: 'export_schedules', versionKey: false },
);
scheduleSchema.index({ dueAt: 1 });
scheduleSchema.index({ claim: 1 });

export interface ScheduledExportStoreDeps {
  connection: Connection;
  cipher: SecretCipher;
  trail: AuditTrail;
  clock: Clock;
}

/** In the database of `connection`. Make it before the connection starts. */
export function createScheduledExportStore(deps: ScheduledExportStoreDeps): ScheduledExportStore & ScheduleClaims {
  const { connection, cipher, trail, clock } = deps;
  const allSettings = connection.model<StoredSettings>('ExportSettings', settingsSchema);
  const schedules = connection.model<StoredSchedule>('ExportSchedule', scheduleSchema);
  const { toSettings, fromSettings } = sealedWith(cipher);

  return {
    async settings(tenantId) {
      const stored = await allSettings.findById(tenantId).lean();
      return stored === null ? null : toSettings(stored);
    },

    async schedules(tenantId) {
      const found = await schedules
        .find({ _id: trusted({ $in: SCHEDULE_KINDS.map((kind) => idOf(tenantId, kind)) }) })
        .lean();
      return SCHEDULE_KINDS.flatMap((kind) => found.filter((each) => each.kind === kind)).map(toSchedule);
    },

    save: (tenantId, decide, startOf, cause) =>
      changeInTurn(connection, tenantId, async (session) => {
        const stored = await allSettings.findById(tenantId, null, { session }).lean();
        const before = stored && toSettings(stored);
        const after = decide(before);
        const { _id, ...fields } = fromSettings(tenantId, after);
        await allSettings.replaceOne({ _id }, fields, { session, upsert: true });
        for (const kind of SCHEDULE_KINDS) {
          const id = idOf(tenantId, kind);
          if (!after.schedules.includes(kind)) {
            await schedules.deleteOne({ _id: id }, { session });
            continue;
          }
          const first = { tenantId, kind, period: startOf(kind) };
          const again = { claim: null, failures: 0, dueAt: new Date(clock()) };
          await schedules.updateOne({ _id: id }, { ...again, $setOnInsert: first }, { session, upsert: true });
        }
        const target = exportTarget(tenantId, after);
        await trail.recordChange(session, tenantId, cause, { target, fields: AUDITED_EXPORT, before, after });
        return after;
      }),

    remove: (tenantId, cause) =>
      changeInTurn(connection, tenantId, async (session) => {
        const stored = await allSettings.findByIdAndDelete(tenantId, { session }).lean();
        if (stored === null) return false;
        await schedules.deleteMany(
          { _id: trusted({ $in: SCHEDULE_KINDS.map((kind) => idOf(tenantId, kind)) }) },
          { session },
        );
        const before = toSettings(stored);
        const target = exportTarget(tenantId, before);
        await trail.recordChange(session, tenantId, cause, { target, fields: AUDITED_EXPORT, before, after: null });
        return true;
      }),

    ask: (tenantId, kind, period, cause) =>
      changeInTurn(connection, tenantId, async (session) => {
        const begun = { claim: null, failures: 0, failingSince: null, problem: null };
        const change = { ...begun, period, isAsked: true, dueAt: new Date(clock()) };
        const stored = await schedules
          .findByIdAndUpdate(idOf(tenantId, kind), change, { session, returnDocument: 'after' })
          .lean();
        const settings = await allSettings.findById(tenantId, null, { session }).lean();
        if (stored === null || settings === null) return null;
        const target = exportTarget(tenantId, toSettings(settings));
        const changes = [
          { field: 'schedule', from: null, to: kind },
          { field: 'from', from: null, to: period },
        ];
        await trail.record(session, tenantId, cause, { target, changes });
        return toSchedule(stored);
      }),

    async recordTest(tenantId, settings, cause) {
      await changeInTurn(connection, tenantId, (session) =>
        trail.record(session, tenantId, cause, { target: exportTarget(tenantId, settings), changes: [] }),
      );
    },

    ...createClaims(schedules, clock),
  };
}

function createClaims(schedules: Model<StoredSchedule>, clock: Clock): ScheduleClaims {
  const inLease = () => new Date(clock() + LEASE_MS);
  return {
    async claim(claim, others, isFresh) {
      const due = {
        dueAt: trusted({ $lte: new Date(clock()) }),
        ...(others.length > 0 && { tenantId: trusted({ $nin: others }) }),
        ...(isFresh && { failures: 0 }),
      };
      const change = { claim, dueAt: inLease() };
      const stored = await schedules
        .findOneAndUpdate(due, change, { sort: { dueAt: 1 }, returnDocument: 'after' })
        .lean();
      return stored && toSchedule(stored);
    },

    async keep(claim, fields) {
      return (await schedules.updateOne({ claim }, { ...fields, dueAt: inLease() })).matchedCount > 0;
    },

    async release(claim, progress) {
      return (await schedules.updateOne({ claim }, { ...progress, claim: null })).matchedCount > 0;
    },
  };
}

function idOf(tenantId: TenantId, kind: ScheduleKind): string {
  return `${tenantId}|${kind}`;
}

function toSchedule({ _id, claim: _claim, tenantId, ...fields }: StoredSchedule): Schedule {
  return { ...fields, tenantId: provenTenantId(tenantId) };
}

/** Only the secret is encrypted. It is bound to the workspace: a copy elsewhere cannot be decrypted. */
function sealedWith(cipher: SecretCipher) {
  const contextOf = (tenantId: string): string => `export|${tenantId}`;

  function toSettings(stored: StoredSettings): ExportSettings {
    const { _id: tenantId, endpoint, region, bucket, accessKeyId, keyId, iv, data, ...fields } = stored;
    const secretAccessKey = cipher.keyIds.includes(keyId)
      ? cipher.open(contextOf(tenantId), { keyId, iv: toBuffer(iv), data: toBuffer(data) })
      : null;
    return { ...fields, destination: { endpoint, region, bucket, accessKeyId, secretAccessKey } };
  }

  function fromSettings(tenantId: TenantId, { destination, ...fields }: ExportSettings): StoredSettings {
    const { secretAccessKey, ...open } = destination;
    return { _id: tenantId, ...fields, ...open, ...cipher.seal(contextOf(tenantId), secretAccessKey ?? '') };
  }

  return { toSettings, fromSettings };
}
