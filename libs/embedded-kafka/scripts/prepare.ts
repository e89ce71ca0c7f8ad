import { prepareKafka } from '../src/kafka.broker.ts';

/** Downloads what a broker needs, or says what to install, so that runs do not fail halfway. */
try {
  await prepareKafka({ env: process.env, onProgress: (line) => console.log(line) });
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
