import type { AuditTrail } from '@tollkeeper/audit-trail';
import type { AuditedFields } from '@tollkeeper/contracts';
import { type Clock, newId, type TenantId } from '@tollkeeper/kernel';
import { changeInTurn } from '@tollkeeper/mongo';
import { type Connection, Schema, trusted } from 'mongoose';
import { MAX_KEPT, type Reconciliation, type ReconciliationHead, type ReconciliationStore } from './reconciliation.ts';

type Stored<Report extends ReconciliationHead> = Omit<Report, 'id'> & { _id: string };
type StoredReport = Stored<Reconciliation> & { tenantId: TenantId };

const text = { type: String, required: true } as const;
const number = { type: Number, required: true } as const;
const mixed = { type: [Schema.Types.Mixed], required: true } as const;

const schema = new Schema<StoredReport>(
  {
    _id: text,
    tenantId: text,
    fileName: { type: String, default: '' },
    format: text,
    from: text,
    to: text,
    chargedMicros: number,
    countedMicros: number,
    cells: mixed,
    onlyCounted: mixed,
    createdAt: { type: Date, required: true },
    createdBy: text,
  },
  { collection: 'reconciliations', versionKey: false },
);
schema.index({ tenantId: 1, createdAt: -1 });

const AUDITED: AuditedFields<Reconciliation> = {
  file_name: ({ fileName }) => fileName,
  format: ({ format }) => format,
  from: ({ from }) => from,
  to: ({ to }) => to,
  charged_micros: ({ chargedMicros }) => chargedMicros,
  counted_micros: ({ countedMicros }) => countedMicros,
};

/** Reports in the database of `connection`. Make it before the connection starts. */
export function createReconciliationStore(
  connection: Connection,
  trail: AuditTrail,
  clock: Clock,
): ReconciliationStore {
  const reports = connection.model<StoredReport>('Reconciliation', schema);

  return {
    add: (tenantId, report, cause) =>
      changeInTurn(connection, tenantId, async (session) => {
        const made: Reconciliation = {
          ...report,
          ...{ id: newId('rec'), createdAt: new Date(clock()), createdBy: cause.actor.id },
        };
        const { id, ...fields } = made;
        await reports.create([{ _id: id, tenantId, ...fields }], { session });
        const [oldest] = await reports
          .find({ tenantId }, { createdAt: 1 }, { session })
          .sort({ createdAt: -1 })
          .skip(MAX_KEPT - 1)
          .limit(1)
          .lean();
        if (oldest !== undefined) {
          await reports.deleteMany({ tenantId, createdAt: trusted({ $lt: oldest.createdAt }) }, { session });
        }
        const target = { type: 'reconciliation', id, name: report.fileName === '' ? id : report.fileName };
        await trail.recordChange(session, tenantId, cause, { target, fields: AUDITED, before: null, after: made });
        return made;
      }),

    async list(tenantId) {
      const found = await reports
        .find({ tenantId }, { tenantId: 0, cells: 0, onlyCounted: 0 })
        .sort({ createdAt: -1 })
        .limit(MAX_KEPT)
        .lean<Stored<ReconciliationHead>[]>();
      return found.map(withId);
    },

    async find(tenantId, id) {
      const found = await reports.findOne({ tenantId, _id: id }, { tenantId: 0 }).lean<Stored<Reconciliation>>();
      return found === null ? null : withId(found);
    },
  };
}

function withId<Fields extends { _id: string }>({ _id: id, ...fields }: Fields) {
  return { id, ...fields };
}
