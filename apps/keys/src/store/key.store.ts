import type { AuditTrail } from '@tollkeeper/audit-trail';
import {
  type Cause,
  DEFAULT_REPORT_MAPPING,
  KEY_ROLES,
  type KeyRole,
  type Labels,
  type ReportMapping,
} from '@tollkeeper/contracts';
import { provenTenantId, type TenantId } from '@tollkeeper/kernel';
import { changeInTurn, toBuffer } from '@tollkeeper/mongo';
import { type ClientSession, type Connection, Schema, trusted } from 'mongoose';
import {
  AUDITED_KEY,
  type KeyStore,
  MAX_ACTIVE_KEYS,
  MAX_REVOKED_KEYS_LISTED,
  type WorkspaceKey,
} from '../domain/workspace-key.ts';

interface StoredKey {
  _id: string;
  tenantId: string;
  name: string;
  role: KeyRole;
  /** Release 0.1.0 stored keys without labels. */
  labels?: Labels;
  /** Earlier releases stored keys without it. Objects without fields are not stored. */
  reports?: Partial<ReportMapping>;
  sha256: Buffer;
  createdAt: Date;
  lastUsedAt: Date | null;
  revokedAt: Date | null;
}

const keySchema = new Schema<StoredKey>(
  {
    _id: { type: String, required: true },
    tenantId: { type: String, required: true },
    name: { type: String, required: true },
    role: { type: String, enum: KEY_ROLES, required: true },
    labels: { type: Schema.Types.Mixed },
    reports: { type: Schema.Types.Mixed },
    sha256: { type: Buffer, required: true },
    createdAt: { type: Date, required: true },
    lastUsedAt: { type: Date, default: null },
    revokedAt: { type: Date, default: null },
  },
  { collection: 'workspace_keys', versionKey: false },
);
keySchema.index({ tenantId: 1, revokedAt: -1, createdAt: -1 });

// Lists never load the digest, so they cannot leak it.
const LISTED = {
  ...{ name: 1, role: 1, labels: 1, reports: 1 },
  ...{ createdAt: 1, lastUsedAt: 1, revokedAt: 1 },
} as const;

/** A key before and after a change; `before` is null for a new key. */
interface Changed {
  before: WorkspaceKey | null;
  after: WorkspaceKey;
}

/** Keys in the database of `connection`. Make it before the connection starts. */
export function createKeyStore(connection: Connection, trail: AuditTrail): KeyStore {
  const keys = connection.model<StoredKey>('WorkspaceKey', keySchema);

  async function record(session: ClientSession, tenantId: TenantId, cause: Cause, changed: Changed): Promise<void> {
    const { id, name } = changed.after;
    await trail.recordChange(session, tenantId, cause, {
      target: { type: 'key', id, name },
      fields: AUDITED_KEY,
      ...changed,
    });
  }

  return {
    async insert(tenantId, key, cause) {
      const { id, ...fields } = key;
      await changeInTurn(connection, tenantId, async (session) => {
        await keys.create([{ _id: id, tenantId, ...fields }], { session });
        await record(session, tenantId, cause, { before: null, after: key });
      });
    },

    countActive: (tenantId) => keys.countDocuments({ tenantId, revokedAt: null }).limit(MAX_ACTIVE_KEYS),

    async list(tenantId) {
      const [active, revoked] = await Promise.all([
        keys.find({ tenantId, revokedAt: null }, LISTED).sort({ createdAt: -1 }).lean(),
        keys
          .find({ tenantId, revokedAt: trusted({ $ne: null }) }, LISTED)
          .sort({ revokedAt: -1 })
          .limit(MAX_REVOKED_KEYS_LISTED)
          .lean(),
      ]);
      return [...active, ...revoked].map(toWorkspaceKey);
    },

    update: (tenantId, keyId, change, cause) =>
      changeInTurn(connection, tenantId, async (session) => {
        const stored = await keys.findOne({ _id: keyId, tenantId }, LISTED, { session }).lean();
        if (stored === null) return null;
        const before = toWorkspaceKey(stored);
        if (before.revokedAt !== null) return before;
        await keys.updateOne({ _id: keyId, tenantId }, { $set: change }, { session });
        const after = { ...before, ...change };
        await record(session, tenantId, cause, { before, after });
        return after;
      }),

    revoke: (tenantId, keyId, revokedAt, cause) =>
      changeInTurn(connection, tenantId, async (session) => {
        const stored = await keys.findOne({ _id: keyId, tenantId }, LISTED, { session }).lean();
        if (stored === null || stored.revokedAt !== null) return stored !== null;
        await keys.updateOne({ _id: keyId, tenantId }, { $set: { revokedAt } }, { session });
        const before = toWorkspaceKey(stored);
        await record(session, tenantId, cause, { before, after: { ...before, revokedAt } });
        return true;
      }),

    async findProof(keyId) {
      const stored = await keys
        .findById(keyId, { tenantId: 1, role: 1, labels: 1, reports: 1, sha256: 1, lastUsedAt: 1, revokedAt: 1 })
        .lean();
      if (stored === null) return null;
      const { tenantId, role, labels = {}, reports, sha256, lastUsedAt, revokedAt } = stored;
      return {
        tenantId: provenTenantId(tenantId),
        role,
        labels,
        reports: toMapping(reports),
        sha256: toBuffer(sha256),
        revoked: revokedAt !== null,
        isUsed: lastUsedAt !== null,
      };
    },

    async recordUses(uses) {
      const updates = uses.map(({ tenantId, keyId, usedAt }) => ({
        updateOne: { filter: { _id: keyId, tenantId }, update: { $max: { lastUsedAt: usedAt } } },
      }));
      await keys.bulkWrite(updates, { ordered: false });
    },
  };
}

type ListedKey = Pick<StoredKey, '_id' | keyof typeof LISTED>;

function toWorkspaceKey({ _id, labels = {}, reports, ...key }: ListedKey): WorkspaceKey {
  const { name, role, createdAt, lastUsedAt, revokedAt } = key;
  return { id: _id, name, role, labels, reports: toMapping(reports), createdAt, lastUsedAt, revokedAt };
}

function toMapping(stored: Partial<ReportMapping> = {}): ReportMapping {
  return { ...DEFAULT_REPORT_MAPPING, ...stored };
}
