import { prepareKafka } from '../src/kafka.broker.ts';

/** Fetches what a broker needs, or says what to install: for runs that shall not find out in the middle. */
try {
  await prepareKafka({ env: process.env, onProgress: (line) => console.log(line) });
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
