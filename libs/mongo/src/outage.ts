import { AppError } from '@tollkeeper/kernel';
import { mongo } from 'mongoose';

const RETRY_AFTER_SECONDS = 2;

/** Errors for which the driver exports no class, or whose class it shares with programming errors. */
const UNREACHED = new Set([
  'MongoClientClosedError',
  'MongoNotConnectedError',
  'MongoOperationTimeoutError',
  'MongoPoolClosedError',
  'MongoServerClosedError',
  'MongoTopologyClosedError',
  'MongoWaitQueueTimeoutError',
]);

/** Codes of servers that are stopping, starting or not the primary, and of writes that no majority took in time. */
const NOT_NOW = new Set([
  6, // HostUnreachable
  7, // HostNotFound
  50, // MaxTimeMSExpired
  64, // WriteConcernTimeout
  89, // NetworkTimeout
  91, // ShutdownInProgress
  100, // UnsatisfiableWriteConcern
  133, // FailedToSatisfyReadPreference
  134, // ReadConcernMajorityNotAvailableYet
  189, // PrimarySteppedDown
  262, // ExceededTimeLimit
  9001, // SocketException
  10107, // NotWritablePrimary
  11600, // InterruptedAtShutdown
  11602, // InterruptedDueToReplStateChange
  13435, // NotPrimaryNoSecondaryOk
  13436, // NotPrimaryOrSecondary
]);

/** Labels with which server and driver mark errors that a retry may resolve. */
const PASSING = ['RetryableWriteError', 'TransientTransactionError', 'UnknownTransactionCommitResult'];

/**
 * `service_unavailable` if the error means that MongoDB cannot be reached or has no primary; undefined for others. For
 * the servers of a service with a database (`explain`): while MongoDB is down, requests fail with such errors within
 * seconds.
 */
export function explainOutage(error: unknown): AppError | undefined {
  if (!isOutage(error)) return undefined;
  const message = 'The database cannot be reached right now. Try again shortly.';
  return new AppError('service_unavailable', message, { retryAfterSeconds: RETRY_AFTER_SECONDS, cause: error });
}

function isOutage(error: unknown): boolean {
  if (!(error instanceof mongo.MongoError)) return false;
  // A bulk write that wrote nothing has its cause in its error.
  if (error instanceof mongo.MongoBulkWriteError && isOutage(error.errorResponse)) return true;
  if (error instanceof mongo.MongoNetworkError || error instanceof mongo.MongoServerSelectionError) return true;
  return (
    UNREACHED.has(error.name) || NOT_NOW.has(Number(error.code)) || PASSING.some((label) => error.hasErrorLabel(label))
  );
}
