import { withTransaction } from '@tollkeeper/mongo';
import { trusted } from 'mongoose';
import type { User, UserStore } from '../domain/user.ts';
import type { IdentityModels, StoredUser } from './models.ts';

export function createUserStore({ connection, users, sessions }: IdentityModels): UserStore {
  return {
    async findById(userId) {
      return toUser(await users.findById(userId).lean());
    },

    async findByEmail(email) {
      return toUser(await users.findOne({ email }).lean());
    },

    changePassword: (userId, { from, to, keepSession }) =>
      withTransaction(connection, async (session) => {
        const { matchedCount } = await users.updateOne(
          { _id: userId, passwordHash: from },
          { $set: { passwordHash: to } },
          { session },
        );
        if (matchedCount === 0) return false;
        const others = keepSession === null ? {} : { _id: trusted({ $ne: keepSession }) };
        await sessions.deleteMany({ userId, ...others }, { session });
        return true;
      }),
  };
}

function toUser(stored: StoredUser | null): User | null {
  if (stored === null) return null;
  const { _id, email, name, passwordHash, createdAt } = stored;
  return { id: _id, email, name, passwordHash, createdAt };
}
