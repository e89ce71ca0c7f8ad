import { CHANGED } from '@tollkeeper/contracts';
import { changeInTurn } from '@tollkeeper/mongo';
import { type ClientSession, trusted } from 'mongoose';
import type { User, UserStore } from '../domain/user.ts';
import type { AccountTrail } from './account.trail.ts';
import type { IdentityModels, StoredUser } from './models.ts';

export function createUserStore(models: IdentityModels, accounts: AccountTrail): UserStore {
  const { connection, users, sessions } = models;
  const findByVerifiedEmail = async (email: string) =>
    toUserOrNull(await users.findOne({ email, emailVerified: true }).lean());

  return {
    findByVerifiedEmail,

    async findById(userId) {
      return toUserOrNull(await users.findById(userId).lean());
    },

    async findByLogin(name) {
      return toUserOrNull(await users.findOne({ loginName: name }).lean()) ?? findByVerifiedEmail(name);
    },

    changePassword: (userId, { from, to, keepSession }, cause) =>
      changeInTurn(connection, userId, async (session) => {
        const { matchedCount } = await users.updateOne(
          { _id: userId, passwordHash: from },
          { $set: { passwordHash: to } },
          { session },
        );
        if (matchedCount === 0) return false;
        const others = keepSession === null ? {} : { _id: trusted({ $ne: keepSession }) };
        await sessions.deleteMany({ userId, ...others }, { session });
        await accounts.record(session, userId, cause, [{ field: 'password', from: null, to: CHANGED }]);
        return true;
      }),
  };
}

/**
 * Gives the e-mail to the user, who has proved that it is theirs. Other users lose the e-mail, but keep their login
 * names, passwords and memberships. Idempotent.
 */
export async function claimEmail(
  users: IdentityModels['users'],
  userId: string,
  email: string,
  session: ClientSession,
): Promise<void> {
  const others = { _id: trusted({ $ne: userId }), email };
  await users.updateMany(others, { $set: { email: null, emailVerified: false } }, { session });
  await users.updateOne({ _id: userId }, { $set: { email, emailVerified: true } }, { session });
}

/** The first login name that nobody has; null if all are taken. */
export async function freeLoginName(
  users: IdentityModels['users'],
  names: readonly string[],
  session: ClientSession,
): Promise<string | null> {
  const taken = await users.find({ loginName: trusted({ $in: names }) }, { loginName: 1 }, { session }).lean();
  return names.find((name) => !taken.some(({ loginName }) => loginName === name)) ?? null;
}

/** The stored form of a user. */
export function fromUser({ id, ...fields }: User): StoredUser {
  return { _id: id, sessionRevision: 0, membershipRevision: 0, ...fields };
}

export function toUser({
  _id,
  sessionRevision: _sessionRevision,
  membershipRevision: _membershipRevision,
  serviceAccountKey: _serviceAccountKey,
  ...fields
}: StoredUser): User {
  return { id: _id, ...fields };
}

function toUserOrNull(stored: StoredUser | null): User | null {
  return stored === null ? null : toUser(stored);
}
