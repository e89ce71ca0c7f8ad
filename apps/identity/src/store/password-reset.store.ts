import { withTransaction } from '@tollkeeper/mongo';
import { trusted } from 'mongoose';
import type { PasswordResetStore } from '../domain/password-reset.ts';
import type { IdentityModels } from './models.ts';
import { toUser } from './user.store.ts';

export function createPasswordResetStore(models: IdentityModels): PasswordResetStore {
  const { connection, users, sessions, passwordResets } = models;
  const validAt = (now: Date) => ({ expiresAt: trusted({ $gt: now }) });

  return {
    add: ({ userId, expiresAt }, tokenSha256) =>
      withTransaction(connection, async (session) => {
        await passwordResets.deleteMany({ userId }, { session });
        await passwordResets.create([{ _id: tokenSha256, userId, expiresAt }], { session });
      }),

    async isValid(tokenSha256, now) {
      return (await passwordResets.exists({ _id: tokenSha256, ...validAt(now) })) !== null;
    },

    use: (tokenSha256, passwordHash, now) =>
      withTransaction(connection, async (session) => {
        const reset = await passwordResets.findOneAndDelete({ _id: tokenSha256, ...validAt(now) }, { session }).lean();
        if (reset === null) return null;
        const { userId } = reset;
        const user = await users
          .findOneAndUpdate(
            { _id: userId },
            // A log-in at the same moment conflicts, and is then checked against the new password.
            { $set: { passwordHash, mustChangePassword: false }, $inc: { sessionRevision: 1 } },
            { session, returnDocument: 'after' },
          )
          .lean();
        if (user === null) return null;
        await sessions.deleteMany({ userId }, { session });
        return toUser(user);
      }),
  };
}
