import { digestOf } from '@tollkeeper/kernel';
import { trusted } from 'mongoose';
import type { PassingStore, PendingLink } from '../domain/oidc/log-in.store.ts';
import type { OidcModels, StoredLink } from './oidc.models.ts';

/** States and ids are stored as SHA-256, so that a copy of the database cannot complete a log-in. */
export function createPassingStore({ transactions, pendingLinks, failures }: OidcModels): PassingStore {
  const alive = (now: number) => ({ expiresAt: trusted({ $gt: new Date(now) }) });

  return {
    async begin({ proof: { state, ...proof }, ...transaction }) {
      await transactions.create({ _id: digestOf(state), proof, ...transaction });
    },

    async take(state, browserSha256, now) {
      const taken = await transactions.findOneAndDelete({ _id: digestOf(state), browserSha256, ...alive(now) }).lean();
      if (taken === null) return null;
      const { providerId, proof, returnTo, expiresAt } = taken;
      return { providerId, proof: { ...proof, state }, browserSha256, returnTo, expiresAt };
    },

    async keepLink({ id, ...link }) {
      await pendingLinks.create({ _id: digestOf(id), ...link });
    },

    async findLink(id, browserSha256, now) {
      return toLink(id, await pendingLinks.findOne({ _id: digestOf(id), browserSha256, ...alive(now) }).lean());
    },

    async takeLink(id, browserSha256, now) {
      return toLink(
        id,
        await pendingLinks.findOneAndDelete({ _id: digestOf(id), browserSha256, ...alive(now) }).lean(),
      );
    },

    async keepFailure({ id, ...failure }) {
      await failures.create({ _id: digestOf(id), ...failure });
    },

    async findFailure(id, now) {
      const found = await failures.findOne({ _id: digestOf(id), ...alive(now) }).lean();
      if (found === null) return null;
      // Empty objects are not stored.
      const { providerId, code, facts = {}, expiresAt } = found;
      return { id, providerId, code, facts, expiresAt };
    },
  };
}

function toLink(id: string, stored: StoredLink | null): PendingLink | null {
  if (stored === null) return null;
  const { browserSha256, arrival, mayBeNew, expiresAt } = stored;
  return { id, browserSha256, arrival, mayBeNew, expiresAt };
}
