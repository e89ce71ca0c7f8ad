import { CHANGED } from '@tollkeeper/contracts';
import { changeInTurn } from '@tollkeeper/mongo';
import { trusted } from 'mongoose';
import type { PasswordResetStore } from '../domain/password-reset.ts';
import type { AccountTrail } from './account.trail.ts';
import type { IdentityModels } from './models.ts';
import { toUser } from './user.store.ts';

export function createPasswordResetStore(models: IdentityModels, accounts: AccountTrail): PasswordResetStore {
  const { connection, users, sessions, passwordResets, oidc } = models;
  const validAt = (now: Date) => ({ expiresAt: trusted({ $gt: now }) });

  return {
    add: ({ userId, mailedTo, expiresAt }, tokenSha256, cause) =>
      changeInTurn(connection, userId, async (session) => {
        const replaced = mailedTo === null ? { userId } : { userId, mailedTo: trusted({ $ne: null }) };
        await passwordResets.deleteMany(replaced, { session });
        await passwordResets.create([{ _id: tokenSha256, userId, mailedTo, expiresAt }], { session });
        await accounts.record(session, userId, cause);
      }),

    async isValid(tokenSha256, now) {
      return (await passwordResets.exists({ _id: tokenSha256, ...validAt(now) })) !== null;
    },

    use: (tokenSha256, passwordHash, now, request) =>
      changeInTurn(connection, tokenSha256, async (session) => {
        const reset = await passwordResets.findOneAndDelete({ _id: tokenSha256, ...validAt(now) }, { session }).lean();
        if (reset === null) return null;
        const { userId, mailedTo } = reset;
        const user = await users.findById(userId).session(session).lean();
        if (user === null) return null;
        const emailVerified = user.emailVerified && user.email === mailedTo;
        await users.updateOne(
          { _id: userId },
          // A concurrent log-in conflicts, and is then checked against the new password.
          { $set: { passwordHash, emailVerified }, $inc: { sessionRevision: 1 } },
          { session },
        );
        await passwordResets.deleteMany({ userId }, { session });
        await sessions.deleteMany({ userId }, { session });
        // Whoever knew the old password may have linked themselves with it, and so added their e-mail.
        await oidc.identities.deleteMany({ userId }, { session });
        const cause = { ...request, actor: { type: 'user', id: userId, name: user.name } } as const;
        await accounts.record(session, userId, cause, [{ field: 'password', from: null, to: CHANGED }]);
        return toUser(user);
      }),
  };
}
