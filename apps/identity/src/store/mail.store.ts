import { randomUUID } from 'node:crypto';
import type { WaitingMails } from '@tollkeeper/mail';
import { trusted } from 'mongoose';
import { MAX_WAITING_MAILS, type MailOrder, type MailQueue } from '../domain/mail.ts';
import type { IdentityModels } from './models.ts';

/** How long sending is retried. People who wait for a reset ask again. */
const KEPT_MS = { reset: 30 * 60_000, invitation: 86_400_000 };

/** The queue, with its side for the sender. */
type MailStore = MailQueue & WaitingMails<MailOrder>;

export function createMailStore({ mails }: IdentityModels): MailStore {
  return {
    async add(order, now) {
      const waiting = await mails.countDocuments({ 'order.kind': order.kind }, { limit: MAX_WAITING_MAILS });
      if (waiting >= MAX_WAITING_MAILS) return false;
      const expiresAt = new Date(now.getTime() + KEPT_MS[order.kind]);
      await mails.create([{ _id: randomUUID(), order, attempts: 0, dueAt: now, expiresAt }]);
      return true;
    },

    async claim(now, until) {
      const stored = await mails
        .findOneAndUpdate(
          { dueAt: trusted({ $lte: now }), expiresAt: trusted({ $gt: now }) },
          { $set: { dueAt: until }, $inc: { attempts: 1 } },
          { sort: { dueAt: 1 }, returnDocument: 'after' },
        )
        .lean();
      return stored && { id: stored._id, order: stored.order, attempts: stored.attempts };
    },

    async postpone(id, until) {
      await mails.updateOne({ _id: id }, { $set: { dueAt: until } });
    },

    async remove(id) {
      await mails.deleteOne({ _id: id });
    },

    async isEmpty() {
      return (await mails.estimatedDocumentCount()) === 0;
    },
  };
}
