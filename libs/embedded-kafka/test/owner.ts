// The process that the suite kills: it starts a broker on the directory given and keeps running.
import { startKafka } from '../src/index.ts';

const kafka = await startKafka({ dataDirectory: process.argv[2] ?? '' });
process.stdout.write(`${JSON.stringify({ pid: kafka.pid })}\n`);
setInterval(() => undefined, 60_000);
