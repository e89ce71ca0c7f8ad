import type { AuditTrail } from '@tollkeeper/audit-trail';
import type { AuditedFields } from '@tollkeeper/contracts';
import { AppError, type Clock, newId, provenTenantId } from '@tollkeeper/kernel';
import { changeInTurn, isDuplicateKey } from '@tollkeeper/mongo';
import { type Connection, Schema, trusted } from 'mongoose';
import {
  CHANGE_GROUPS,
  type ChangedSums,
  type ChangeGroup,
  emptySums,
  type RepricingDraft,
  type RepricingJob,
  type RepricingStore,
  type RepricingSummary,
} from './repricing.ts';

/** Longer than a page takes. After that, another replica goes on with the job. */
const LEASE_MS = 90_000;
/** After a failure. */
const RETRY_MS = 5_000;

type StoredGroups = Record<ChangeGroup, ({ name: string } & ChangedSums)[]>;

interface StoredJob extends Omit<RepricingJob, 'id' | 'tenantId' | 'sums'> {
  _id: string;
  tenantId: string;
  sums: ChangedSums & { read: number };
  groups: StoredGroups;
  /** Which process works on it; null for none. */
  owner: string | null;
  /** When it may be worked on, by another process than the owner. */
  dueAt: Date;
}

const text = { type: String, required: true } as const;
const number = { type: Number, required: true } as const;
const mixed = { type: Schema.Types.Mixed, required: true } as const;

const schema = new Schema<StoredJob>(
  {
    _id: text,
    tenantId: text,
    from: number,
    to: number,
    models: { type: [String], default: null },
    dryRun: { type: Boolean, required: true },
    state: text,
    createdAt: { type: Date, required: true },
    createdBy: text,
    finishedAt: { type: Date, default: null },
    timezone: text,
    overrides: number,
    expected: number,
    place: mixed,
    sums: mixed,
    groups: mixed,
    problem: { type: String, default: null },
    failures: number,
    owner: { type: String, default: null },
    dueAt: { type: Date, required: true },
  },
  { collection: 'repricings', versionKey: false, minimize: false },
);
schema.index({ tenantId: 1, createdAt: -1 });
schema.index({ tenantId: 1 }, { unique: true, partialFilterExpression: { state: 'running' }, name: 'one_running' });
schema.index({ dueAt: 1 }, { partialFilterExpression: { state: 'running' }, name: 'due' });

const AUDITED: AuditedFields<RepricingDraft> = {
  from: ({ from }) => new Date(from).toISOString(),
  to: ({ to }) => new Date(to).toISOString(),
  models: ({ models }) => models,
  dry_run: ({ dryRun }) => dryRun,
};

/** Jobs in the database of `connection`. Make it before the connection starts. */
export function createRepricingStore(connection: Connection, trail: AuditTrail, clock: Clock): RepricingStore {
  const jobs = connection.model<StoredJob>('Repricing', schema);

  return {
    create: (tenantId, draft, cause) =>
      changeInTurn(connection, tenantId, async (session) => {
        // Tells its corrections from those of earlier jobs, which another replica with another clock may have created.
        const last = await jobs.findOne({ tenantId }, { createdAt: 1 }, { session, sort: { createdAt: -1 } }).lean();
        const at = new Date(Math.max(clock(), (last?.createdAt.getTime() ?? 0) + 1));
        const job: RepricingJob = {
          ...draft,
          ...{ id: newId('rpr'), tenantId, state: 'running', createdAt: at, createdBy: cause.actor.id },
          place: { time: draft.from, after: '' },
          ...{ sums: emptySums(), finishedAt: null, problem: null, failures: 0 },
        };
        try {
          await jobs.create([{ ...toStored(job), owner: null, dueAt: at }], { session });
        } catch (error) {
          if (isDuplicateKey(error)) throw alreadyRunning();
          throw error;
        }
        const target = { type: 'repricing', id: job.id, name: job.id };
        await trail.recordChange(session, tenantId, cause, { target, fields: AUDITED, before: null, after: draft });
        return job;
      }),

    async list(tenantId, limit) {
      const found = await jobs
        .find({ tenantId }, { groups: 0 })
        .sort({ createdAt: -1 })
        .limit(limit)
        .lean<Omit<StoredJob, 'groups'>[]>();
      return found.map(toSummary);
    },

    async find(tenantId, id) {
      const found = await jobs.findOne({ tenantId, _id: id }).lean();
      return found && toJob(found);
    },

    async claim(owner) {
      const now = clock();
      const found = await jobs
        .findOneAndUpdate(
          { state: 'running', dueAt: trusted({ $lte: new Date(now) }) },
          { owner, dueAt: new Date(now + LEASE_MS) },
          { sort: { dueAt: 1 }, returnDocument: 'after' },
        )
        .lean();
      return found && toJob(found);
    },

    async save(owner, job, { isOver }) {
      const now = clock();
      const waitMs = job.problem === null ? 0 : RETRY_MS;
      const after = isOver ? { owner: null, dueAt: new Date(now + waitMs) } : { dueAt: new Date(now + LEASE_MS) };
      const { _id, ...stored } = toStored(job);
      const { matchedCount } = await jobs.updateOne({ _id, owner, state: 'running' }, { ...stored, ...after });
      return matchedCount > 0;
    },
  };
}

function alreadyRunning(): AppError {
  const message = 'The workspace already prices calls again. Wait until that is done, then try again.';
  return new AppError('conflict', message);
}

function toStored({ id, sums: { by, ...sums }, ...fields }: RepricingJob): Omit<StoredJob, 'owner' | 'dueAt'> {
  const groups = CHANGE_GROUPS.map((group) => [group, [...by[group]].map(([name, ofName]) => ({ name, ...ofName }))]);
  return { _id: id, ...fields, sums, groups: Object.fromEntries(groups) as StoredGroups };
}

function toSummary({
  _id,
  tenantId,
  owner: _owner,
  dueAt: _dueAt,
  ...fields
}: Omit<StoredJob, 'groups'>): RepricingSummary {
  return { id: _id, tenantId: provenTenantId(tenantId), ...fields };
}

function toJob({ groups, ...stored }: StoredJob): RepricingJob {
  const by = emptySums().by;
  for (const group of CHANGE_GROUPS) for (const { name, ...ofName } of groups[group]) by[group].set(name, ofName);
  const summary = toSummary(stored);
  return { ...summary, sums: { ...summary.sums, by } };
}
