import { mongo } from 'mongoose';
import { ContendedTransaction } from './transaction.ts';

/** Codes by which a server that is there refuses a write for what it is. */
const REFUSED = new Set([
  14, // TypeMismatch
  15, // Overflow: nested too deeply
  17, // InvalidLength
  22, // InvalidBSON
  52, // DollarPrefixedFieldName
  121, // DocumentValidationFailure
  171, // CannotIndexParallelArrays
  388, // TransactionTooLargeForCache
  10334, // BSONObjectTooLarge
  11000, // DuplicateKey
  17280, // KeyTooLong
  17419, // of an update: the document is too large after it
  17420, // of an insert: the document is too large
]);

/** Message of servers that have no code of their own for this. */
const TRANSACTION_TOO_LARGE = /transaction is too large/;
/** Message of the driver, which then sends nothing to the server. */
const DOCUMENT_TOO_LARGE = /^Document is larger than the maximum size/;

/**
 * A stored document whose content can't be read: it is damaged, or a later version wrote it. What needs it can't be
 * done until somebody has looked at it; everything else can.
 */
export class UnreadableDocument extends Error {
  constructor(collection: string, id: string, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(`The document ${id} of ${collection} can't be read: ${reason}`, { cause });
    this.name = 'UnreadableDocument';
  }
}

/**
 * Whether MongoDB refuses a write because of what is written: too much for one transaction, a document that it can't
 * store, or a transaction that did not get through within the time that it had ({@link ContendedTransaction}). Less at
 * once may get through. So may a write that does not need the document that another one needs and that can't be read
 * ({@link UnreadableDocument}).
 *
 * It is the opposite of an outage (`explainOutage`): the server is there and takes other writes. False for a lost
 * position (`OffsetConflict`), for a full disk, for a missing right, and for errors that are none of MongoDB's.
 */
export function isRefusal(error: unknown): boolean {
  if (error instanceof ContendedTransaction || error instanceof UnreadableDocument) return true;
  if (!(error instanceof Error)) return false;
  if (error instanceof mongo.MongoServerError) {
    return REFUSED.has(Number(error.code)) || TRANSACTION_TOO_LARGE.test(error.message);
  }
  return error.name === 'BSONError' || DOCUMENT_TOO_LARGE.test(error.message);
}
