import type { AuditAction } from '@tollkeeper/contracts';
import { AppError, digestOf } from '@tollkeeper/kernel';
import { changeInTurn, isDuplicateKey } from '@tollkeeper/mongo';
import { type ClientSession, trusted } from 'mongoose';
import type { LinkStore, LogInRequest } from '../domain/oidc/log-in.store.ts';
import type { Person } from '../domain/oidc/person.ts';
import type { AccountTrail } from './account.trail.ts';
import type { IdentityModels } from './models.ts';
import { claimEmail, freeLoginName, fromUser } from './user.store.ts';

export function createLinkStore(models: IdentityModels, accounts: AccountTrail): LinkStore {
  const { connection, users, sessions, invitations } = models;
  const { identities } = models.oidc;

  async function insert({ issuer, subject }: Person, userId: string, at: Date, session: ClientSession): Promise<void> {
    await identities.create([{ _id: idOf({ issuer, subject }), issuer, subject, userId, createdAt: at }], { session });
  }

  function record(
    session: ClientSession,
    userId: string,
    action: AuditAction,
    { providerId, ...request }: LogInRequest,
    facts: Record<string, string> = {},
  ): Promise<void> {
    const details = Object.entries({ provider: providerId, ...facts });
    const changes = details.map(([field, to]) => ({ field, from: null, to }));
    return accounts.record(session, userId, { action, ...request }, changes);
  }

  /** If another transaction linked the person first, this returns false. */
  async function unlessLinked(userId: string, work: (session: ClientSession) => Promise<void>): Promise<boolean> {
    try {
      await changeInTurn(connection, userId, work);
      return true;
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  }

  return {
    async findUser(identity) {
      return (await identities.findById(idOf(identity)).lean())?.userId ?? null;
    },

    async isClaimed(email) {
      const hasPassword = { passwordHash: trusted({ $ne: null }) };
      return (await users.exists({ email, emailVerified: false, ...hasPassword })) !== null;
    },

    async isInvited(email, now) {
      return (await invitations.exists({ email, expiresAt: trusted({ $gt: new Date(now) }) })) !== null;
    },

    link: (person, { id: userId, passwordHash }, at, by) =>
      unlessLinked(userId, async (session) => {
        const known = { _id: userId, ...(passwordHash !== undefined && { passwordHash }) };
        // A write, so that a concurrent change of the password conflicts.
        const { matchedCount } = await users.updateOne(known, { $inc: { sessionRevision: 1 } }, { session });
        if (matchedCount === 0) throw passwordChanged();
        await insert(person, userId, at, session);
        if (person.email !== null && person.emailProven) await claimEmail(users, userId, person.email, session);
        await record(session, userId, 'user.provider.link', by, { subject: person.subject });
      }),

    signUp: (person, user, loginNames) =>
      unlessLinked(user.id, async (session) => {
        await insert(person, user.id, user.createdAt, session);
        // The e-mail is taken from others before the user is stored with it: no two users have verified the same one.
        if (person.email !== null && person.emailProven) await claimEmail(users, user.id, person.email, session);
        const loginName = await freeLoginName(users, loginNames, session);
        if (loginName === null) throw new Error('All login names that were made for a user are taken');
        await users.create([fromUser({ ...user, loginName })], { session });
      }),

    async record({ issuer, subject, ...last }) {
      await identities.updateOne({ _id: idOf({ issuer, subject }) }, { $set: { last } });
    },

    async reportsOf(userId) {
      const found = await identities.find({ userId }).sort({ createdAt: 1 }).lean();
      return found.flatMap(({ issuer, subject, last }) => (last === undefined ? [] : [{ issuer, subject, ...last }]));
    },

    openSession: ({ sha256, ...fields }, identity, by) =>
      changeInTurn(connection, fields.userId, async (session) => {
        const { userId } = fields;
        if ((await identities.exists({ _id: idOf(identity), userId }).session(session)) === null) return false;
        // A concurrent reset of the password conflicts, because it ends sessions and unlinks.
        await users.updateOne({ _id: userId }, { $inc: { sessionRevision: 1 } }, { session });
        await sessions.create([{ _id: sha256, ...fields }], { session });
        await record(session, userId, 'session.create', by);
        return true;
      }),

    recordRefusal: (userId, reason, by) =>
      changeInTurn(connection, userId, (session) => record(session, userId, 'session.refuse', by, { reason })),
  };
}

function passwordChanged(): AppError {
  return new AppError('conflict', 'The password of this account was just changed. Log in again.');
}

function idOf({ issuer, subject }: Pick<Person, 'issuer' | 'subject'>): string {
  return digestOf(JSON.stringify([issuer, subject]));
}
