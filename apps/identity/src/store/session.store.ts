import { withTransaction } from '@tollkeeper/mongo';
import type { SessionStore } from '../domain/session.ts';
import type { IdentityModels } from './models.ts';

export function createSessionStore({ connection, users, sessions }: IdentityModels): SessionStore {
  return {
    open: ({ sha256, userId, createdAt, expiresAt, mustChangePassword }, passwordHash) =>
      withTransaction(connection, async (session) => {
        const { matchedCount } = await users.updateOne(
          { _id: userId, passwordHash },
          { $inc: { sessionRevision: 1 }, $set: { mustChangePassword } },
          { session },
        );
        if (matchedCount === 0) return false;
        await sessions.create([{ _id: sha256, userId, createdAt, expiresAt, mustChangePassword }], { session });
        return true;
      }),

    async find(sha256) {
      const stored = await sessions.findById(sha256).lean();
      if (stored === null) return null;
      const { _id, userId, createdAt, expiresAt, mustChangePassword = false } = stored;
      return { sha256: _id, userId, createdAt, expiresAt, mustChangePassword };
    },

    async extend(sha256, expiresAt) {
      await sessions.updateOne({ _id: sha256 }, { $max: { expiresAt } });
    },

    async revoke(sha256) {
      await sessions.deleteOne({ _id: sha256 });
    },
  };
}
