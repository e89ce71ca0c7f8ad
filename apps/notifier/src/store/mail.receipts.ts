import { driverCollection } from '@tollkeeper/mongo';
import { type Connection, Schema } from 'mongoose';

/** What the mail server said of a message to a reader. */
interface ReceiptDocument {
  /** The id of the message and of the reader. */
  _id: string;
  messageId: string;
  readerId: string;
  result: 'sent' | 'rejected';
  at: Date;
}

/** Longer than a delivery is retried. */
const RETENTION_SECONDS = 3 * 86_400;

const receiptSchema = new Schema<ReceiptDocument>(
  {
    _id: { type: String, required: true },
    messageId: { type: String, required: true },
    readerId: { type: String, required: true },
    result: { type: String, required: true },
    at: { type: Date, required: true },
  },
  { collection: 'mail_receipts', versionKey: false },
);
receiptSchema.index({ messageId: 1 });
receiptSchema.index({ at: 1 }, { expireAfterSeconds: RETENTION_SECONDS });

/** Which readers need no further mail about a message, so that no attempt repeats a mail. */
export interface MailReceipts {
  of(messageId: string): Promise<Set<string>>;
  add(messageId: string, readerId: string, result: ReceiptDocument['result']): Promise<void>;
  /** The number of readers to whom the mail server rejected the message permanently. */
  rejectedOf(messageId: string): Promise<number>;
}

export function createMailReceipts(connection: Connection): MailReceipts {
  const receipts = driverCollection<ReceiptDocument>(connection, 'MailReceipt', receiptSchema);

  return {
    async of(messageId) {
      return new Set(await receipts.distinct('readerId', { messageId }));
    },
    async add(messageId, readerId, result) {
      const receipt = { messageId, readerId, result, at: new Date() };
      await receipts.updateOne({ _id: `${messageId}|${readerId}` }, { $set: receipt }, { upsert: true });
    },
    rejectedOf: (messageId) => receipts.countDocuments({ messageId, result: 'rejected' }),
  };
}
