import { mongo } from 'mongoose';
import { ContendedTransaction } from './transaction.ts';

/** Codes with which a working server refuses a write because of its content. */
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

/** Message of servers that have no code for this. */
const TRANSACTION_TOO_LARGE = /transaction is too large/;
/** Message of the driver, which then sends nothing to the server. */
const DOCUMENT_TOO_LARGE = /^Document is larger than the maximum size/;

/**
 * A stored document cannot be read: it is damaged, or a later version wrote it. Work that needs it waits until somebody
 * has fixed it; all other work continues.
 */
export class UnreadableDocument extends Error {
  constructor(collection: string, id: string, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(`The document ${id} of ${collection} can't be read: ${reason}`, { cause });
    this.name = 'UnreadableDocument';
  }
}

/**
 * Whether MongoDB refuses a write because of its content: it is too much for one transaction, contains a document that
 * MongoDB cannot store, or its transaction did not finish in time ({@link ContendedTransaction}). Smaller writes may
 * succeed, and so may writes that do not need an unreadable document ({@link UnreadableDocument}).
 *
 * It is the opposite of an outage (`explainOutage`): the server works and accepts other writes. False for a lost
 * position (`OffsetConflict`), a full disk, a missing right, and errors from elsewhere.
 */
export function isRefusal(error: unknown): boolean {
  if (error instanceof ContendedTransaction || error instanceof UnreadableDocument) return true;
  if (!(error instanceof Error)) return false;
  if (error instanceof mongo.MongoServerError) {
    return REFUSED.has(Number(error.code)) || TRANSACTION_TOO_LARGE.test(error.message);
  }
  return error.name === 'BSONError' || DOCUMENT_TOO_LARGE.test(error.message);
}
