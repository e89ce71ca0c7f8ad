import { changeInTurn } from '@tollkeeper/mongo';
import { trusted } from 'mongoose';
import { MAX_LISTED_SESSIONS, type Session, type SessionStore } from '../domain/session.ts';
import type { AccountTrail } from './account.trail.ts';
import type { IdentityModels, StoredSession } from './models.ts';

export function createSessionStore(models: IdentityModels, accounts: AccountTrail): SessionStore {
  const { connection, users, sessions, deviceLogins } = models;

  return {
    open: ({ sha256, ...fields }, passwordHash, cause) =>
      changeInTurn(connection, fields.userId, async (session) => {
        const { userId } = fields;
        const { matchedCount } = await users.updateOne(
          { _id: userId, passwordHash },
          { $inc: { sessionRevision: 1 } },
          { session },
        );
        if (matchedCount === 0) return false;
        await sessions.create([{ _id: sha256, ...fields }], { session });
        await accounts.record(session, userId, cause);
        return true;
      }),

    async find(sha256) {
      const stored = await sessions.findById(sha256).lean();
      return stored === null ? null : toSession(stored);
    },

    async listOf(userId, now) {
      const stored = await sessions
        .find({ userId, expiresAt: trusted({ $gt: now }) })
        .sort({ createdAt: -1 })
        .limit(MAX_LISTED_SESSIONS)
        .lean();
      return stored.map(toSession);
    },

    async extend(sha256, use) {
      await sessions.updateOne({ _id: sha256 }, { $max: use });
    },

    async revoke(sha256, cause) {
      await changeInTurn(connection, sha256, async (session) => {
        const revoked = await sessions.findOneAndDelete({ _id: sha256 }, { session }).lean();
        if (revoked !== null) await accounts.record(session, revoked.userId, cause);
      });
    },

    async revokeOthers(userId, sha256, cause) {
      await changeInTurn(connection, userId, async (session) => {
        const others = { userId, ...(sha256 !== null && { _id: trusted({ $ne: sha256 }) }) };
        const { deletedCount } = await sessions.deleteMany(others, { session });
        // A program that has not collected its session yet would have another one later.
        await deviceLogins.deleteMany({ 'confirmation.userId': userId }, { session });
        const changes = [{ field: 'sessions_ended', from: null, to: deletedCount }];
        if (deletedCount > 0) await accounts.record(session, userId, cause, changes);
      });
    },
  };
}

function toSession({ _id, ...fields }: StoredSession): Session {
  return { sha256: _id, ...fields };
}
