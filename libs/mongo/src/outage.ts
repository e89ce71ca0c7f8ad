import { AppError } from '@tollkeeper/kernel';
import { mongo } from 'mongoose';

const RETRY_AFTER_SECONDS = 2;

/** Errors of the driver that it has no exported class for, or that share a class with programming errors. */
const UNREACHED = new Set([
  'MongoClientClosedError',
  'MongoNotConnectedError',
  'MongoOperationTimeoutError',
  'MongoPoolClosedError',
  'MongoServerClosedError',
  'MongoTopologyClosedError',
  'MongoWaitQueueTimeoutError',
]);

/**
 * Codes of servers that are going, coming, or not the primary (any more), and of writes that no majority took in time.
 */
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

/** Labels by which server and driver say that a retry may succeed. */
const PASSING = ['RetryableWriteError', 'TransientTransactionError', 'UnknownTransactionCommitResult'];

/**
 * `service_unavailable` for an error that says that MongoDB can't be reached or has no primary just now; undefined for
 * any other. For the servers of a service with a database (`explain`): what it does in a request fails with such an
 * error within seconds while MongoDB is down.
 */
export function explainOutage(error: unknown): AppError | undefined {
  if (!isOutage(error)) return undefined;
  const message = 'The database cannot be reached just now. Try again shortly.';
  return new AppError('service_unavailable', message, { retryAfterSeconds: RETRY_AFTER_SECONDS, cause: error });
}

function isOutage(error: unknown): boolean {
  if (!(error instanceof mongo.MongoError)) return false;
  // The error of a bulk write that wrote nothing holds its cause.
  if (error instanceof mongo.MongoBulkWriteError && isOutage(error.errorResponse)) return true;
  if (error instanceof mongo.MongoNetworkError || error instanceof mongo.MongoServerSelectionError) return true;
  return (
    UNREACHED.has(error.name) || NOT_NOW.has(Number(error.code)) || PASSING.some((label) => error.hasErrorLabel(label))
  );
}
