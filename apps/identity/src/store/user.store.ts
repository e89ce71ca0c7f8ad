import { CHANGED } from '@tollkeeper/contracts';
import { changeInTurn } from '@tollkeeper/mongo';
import { type ClientSession, trusted } from 'mongoose';
import type { User, UserStore } from '../domain/user.ts';
import type { AccountTrail } from './account.trail.ts';
import type { IdentityModels, StoredUser } from './models.ts';

export function createUserStore(models: IdentityModels, accounts: AccountTrail): UserStore {
  const { connection, users, sessions } = models;
  const findByVerifiedEmail = async (email: string) =>
    toUserOrNull(await users.findOne({ contactEmail: email, emailVerified: true }).lean());

  return {
    findByVerifiedEmail,

    async findById(userId) {
      return toUserOrNull(await users.findById(userId).lean());
    },

    async findByLogin(name) {
      return toUserOrNull(await users.findOne({ email: name }).lean()) ?? findByVerifiedEmail(name);
    },

    changePassword: (userId, { from, to, keepSession }, cause) =>
      changeInTurn(connection, userId, async (session) => {
        const { matchedCount } = await users.updateOne(
          { _id: userId, passwordHash: from },
          { $set: { passwordHash: to, mustChangePassword: false } },
          { session },
        );
        if (matchedCount === 0) return false;
        const others = keepSession === null ? {} : { _id: trusted({ $ne: keepSession }) };
        await sessions.deleteMany({ userId, ...others }, { session });
        await sessions.updateMany({ userId }, { $unset: { mustChangePassword: 1 } }, { session });
        await accounts.record(session, userId, cause, [{ field: 'password', from: null, to: CHANGED }]);
        return true;
      }),
  };
}

/**
 * Gives the e-mail to the user, who has proved that it is theirs. Others who had it go on without an e-mail; their
 * login names, passwords and memberships stay. Repeating it changes nothing.
 */
export async function claimEmail(
  users: IdentityModels['users'],
  userId: string,
  email: string,
  session: ClientSession,
): Promise<void> {
  const others = { _id: trusted({ $ne: userId }) };
  const none = { $set: { contactEmail: null, emailVerified: false } };
  await users.updateMany({ ...others, contactEmail: email }, none, { session });
  await users.updateMany({ ...others, email, contactEmail: trusted({ $exists: false }) }, none, { session });
  await users.updateOne({ _id: userId }, { $set: { contactEmail: email, emailVerified: true } }, { session });
}

/** The first of the login names that nobody has; null when all are taken. */
export async function freeLoginName(
  users: IdentityModels['users'],
  names: readonly string[],
  session: ClientSession,
): Promise<string | null> {
  const taken = await users.find({ email: trusted({ $in: names }) }, { email: 1 }, { session }).lean();
  return names.find((name) => !taken.some(({ email }) => email === name)) ?? null;
}

/** What is stored of a user. */
export function fromUser({ id, loginName, email, ...fields }: User): StoredUser {
  return { _id: id, email: loginName, contactEmail: email, sessionRevision: 0, membershipRevision: 0, ...fields };
}

/** The user of a document, of this version or of the ones before, whose users had an e-mail and a password alone. */
export function toUser(stored: StoredUser): User {
  const { _id, name, email: loginName, contactEmail, passwordHash, mustChangePassword, createdAt } = stored;
  return {
    id: _id,
    loginName,
    name,
    email: contactEmail === undefined ? loginName : contactEmail,
    emailVerified: stored.emailVerified ?? false,
    passwordHash: passwordHash ?? null,
    mustChangePassword: mustChangePassword ?? null,
    createdAt,
  };
}

function toUserOrNull(stored: StoredUser | null): User | null {
  return stored === null ? null : toUser(stored);
}
