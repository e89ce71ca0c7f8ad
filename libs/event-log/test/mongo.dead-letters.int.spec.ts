import { connectMongo } from '@tollkeeper/mongo';
import { useMongo } from '@tollkeeper/testing';
import { createMongoEventLog } from '../src/index.ts';
import { describeDeadLetters } from './dead-letters.contract.ts';

const { uri, database } = useMongo();

describeDeadLetters('MongoDB', (deps) => {
  const mongo = connectMongo({ uri, database, logger: deps.logger });
  return { eventLog: createMongoEventLog({ connection: mongo.connection, ...deps, leaseMs: 800 }), before: [mongo] };
});
