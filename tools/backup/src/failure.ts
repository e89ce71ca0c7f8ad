import { MongoServerError } from 'mongodb';
import { explainOutage } from '@tollkeeper/mongo';

/** The message is a sentence for the operator that says what to do, and has no secret. */
export class Failure extends Error {
  override readonly name = 'Failure';
}

const NOT_EMPTY = 'something else writes here. Stop all services, drop the databases and restore again';
/** What to do about the errors of a server, by their code (src/mongo/base/error_codes.yml). */
const REMEDIES: Readonly<Record<number, string>> = {
  13: 'the user may not do this. It needs the role readWrite on the databases tollkeeper_<service>, as the services have',
  18: 'MongoDB refuses the user or the password. Check both, with special characters percent-encoded, and authSource',
  48: NOT_EMPTY,
  239:
    'reading takes longer than MongoDB keeps the state at one point in time, which is 5 minutes by default. Run this on ' +
    'each member, with the seconds that a backup needs, and back up again: ' +
    'db.adminCommand({ setParameter: 1, minSnapshotHistoryWindowInSeconds: 3600 })',
  11000: NOT_EMPTY,
  246: 'collections or indexes have changed, as when a service starts for the first time. Back up again',
};

/** The error as a sentence for the operator, if it is one of MongoDB that the operator can do something about. */
export function explain(error: unknown, address: string): unknown {
  if (error instanceof Failure) return error;
  const remedy = error instanceof MongoServerError ? REMEDIES[Number(error.code)] : undefined;
  if (remedy !== undefined) return new Failure(`MongoDB at ${address}: ${remedy}.`, { cause: error });
  if (explainOutage(error) === undefined) return error;
  const reason = error instanceof Error ? error.message : String(error);
  const check = 'Check that it runs, and host, port and TLS of the address. Then run the command again';
  return new Failure(`MongoDB at ${address} does not answer (${reason}). ${check}.`, { cause: error });
}
