// The process that the suite kills: it starts mongod on the directory given and keeps running.
import { startEmbeddedMongo } from '../src/index.ts';

const mongo = await startEmbeddedMongo({ dataDirectory: process.argv[2] ?? '' });
process.stdout.write(`${JSON.stringify({ uri: mongo.uri, pid: mongo.pid })}\n`);
setInterval(() => undefined, 60_000);
