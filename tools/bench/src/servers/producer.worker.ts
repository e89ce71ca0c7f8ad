import { openBareProducer } from '../kafka.baseline.ts';

export interface ProduceRequest {
  brokers: string;
  /** The records of each send, all with the same key. */
  batches: { key: string; values: string[] }[];
  /** Concurrent sends. */
  inFlight: number;
  seconds: number;
}

export interface ProduceResult {
  recordsPerSecond: number;
  /** Processor time of this process, in microseconds per record. */
  cpuMicros: number;
}

async function produce({ brokers, batches, inFlight, seconds }: ProduceRequest): Promise<ProduceResult> {
  const producer = await openBareProducer(brokers);
  const prepared = batches.map(({ key, values }) => values.map((value) => ({ key, value: Buffer.from(value) })));
  const startedAt = performance.now();
  const cpuBefore = process.cpuUsage();
  const deadline = startedAt + seconds * 1_000;
  let sends = 0;
  let records = 0;
  const lane = async (): Promise<void> => {
    while (performance.now() < deadline) {
      const messages = prepared[sends++ % prepared.length] ?? [];
      await producer.send(messages);
      records += messages.length;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  const elapsed = (performance.now() - startedAt) / 1_000;
  const { user, system } = process.cpuUsage(cpuBefore);
  await producer.close();
  return { recordsPerSecond: records / elapsed, cpuMicros: (user + system) / records };
}

process.on('disconnect', () => process.exit());
process.on('message', (request: ProduceRequest) => {
  void produce(request).then((result) => process.send?.(result));
});
process.send?.('ready');
