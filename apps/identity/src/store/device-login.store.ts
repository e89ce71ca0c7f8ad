import { digestOf } from '@tollkeeper/kernel';
import { changeInTurn, isDuplicateKey } from '@tollkeeper/mongo';
import { toClientNetwork } from '@tollkeeper/net';
import { trusted } from 'mongoose';
import type { DeviceLogin, DeviceLoginStore } from '../domain/device-login.ts';
import type { AccountTrail } from './account.trail.ts';
import type { StoredDeviceLogin } from './device-login.model.ts';
import type { IdentityModels } from './models.ts';

export function createDeviceLoginStore(models: IdentityModels, accounts: AccountTrail): DeviceLoginStore {
  const { connection, users, sessions, deviceLogins } = models;
  const alive = (now: Date) => ({ expiresAt: trusted({ $gt: now }) });
  const pendingWith = (userSha256: string, now: Date) => ({ userSha256, state: 'pending' as const, ...alive(now) });

  return {
    countOpen: (address, now) => deviceLogins.countDocuments({ network: toClientNetwork(address), ...alive(now) }),

    async add({ deviceSha256, userSha256 }, login) {
      try {
        const network = toClientNetwork(login.origin.address);
        await deviceLogins.create({ _id: deviceSha256, userSha256, network, ...login, confirmation: null });
        return true;
      } catch (error) {
        if (isDuplicateKey(error)) return false;
        throw error;
      }
    },

    async find(deviceSha256, now) {
      return toLogin(await deviceLogins.findOne({ _id: deviceSha256, ...alive(now) }).lean());
    },

    async findPending(userSha256, now) {
      return toLogin(await deviceLogins.findOne(pendingWith(userSha256, now)).lean());
    },

    async recordPoll(deviceSha256, poll) {
      await deviceLogins.updateOne({ _id: deviceSha256 }, { $set: poll });
    },

    async confirm(userSha256, confirmation, now) {
      const user = await users.findById(confirmation.userId, { passwordHash: 1 }).lean();
      const passwordSha256 = digestOf(user?.passwordHash ?? '');
      const decided = { state: 'confirmed' as const, confirmation: { ...confirmation, passwordSha256 } };
      const { modifiedCount } = await deviceLogins.updateOne(pendingWith(userSha256, now), { $set: decided });
      return modifiedCount === 1;
    },

    decline: (userSha256, now, cause) =>
      changeInTurn(connection, userSha256, async (tx) => {
        const declined = await deviceLogins
          .findOneAndUpdate(pendingWith(userSha256, now), { $set: { state: 'declined' } }, { session: tx })
          .lean();
        if (declined === null) return false;
        const { address } = declined.origin;
        await accounts.record(tx, cause.actor.id, cause, [
          { field: 'reason', from: null, to: 'declined' },
          { field: 'requested_from', from: null, to: address },
        ]);
        return true;
      }),

    collect: (deviceSha256, { sha256, ...session }, now, request) =>
      changeInTurn(connection, session.userId, async (tx) => {
        const filter = { _id: deviceSha256, state: 'confirmed' as const, ...alive(now) };
        const taken = await deviceLogins.findOneAndDelete(filter, { session: tx }).lean();
        const confirmation = taken?.confirmation ?? null;
        if (confirmation === null) return 'gone';
        const { userId, sessionSha256, passwordSha256, address } = confirmation;
        // Conflicts with a change of the password, as every new session does.
        const user = await users
          .findOneAndUpdate({ _id: userId }, { $inc: { sessionRevision: 1 } }, { session: tx })
          .lean();
        const confirmedBy = await sessions.exists({ _id: sessionSha256, userId, ...alive(now) }).session(tx);
        if (confirmedBy === null || digestOf(user?.passwordHash ?? '') !== passwordSha256) return 'refused';
        await sessions.create([{ _id: sha256, ...session }], { session: tx });
        await accounts.record(tx, userId, request, [{ field: 'confirmed_from', from: null, to: address }]);
        return 'collected';
      }),
  };
}

function toLogin(stored: StoredDeviceLogin | null): DeviceLogin | null {
  if (stored === null) return null;
  const { origin, createdAt, expiresAt, state, polledAt, intervalSeconds, confirmation } = stored;
  return { origin, createdAt, expiresAt, state, polledAt, intervalSeconds, confirmation };
}
