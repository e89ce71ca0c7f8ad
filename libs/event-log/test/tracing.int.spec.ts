import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  createMetrics,
  createTracing,
  headersOf,
  loadConfig,
  type Metrics,
  serviceConfig,
  startSpan,
  type Tracer,
  type Tracing,
  withSpan,
} from '@tollkeeper/runtime';
import { eventually, type OtlpReceiver, startOtlpReceiver, testLogger, useMongo } from '@tollkeeper/testing';
import {
  createMongoEventLog,
  type EventLog,
  instrumentEventLog,
  type LogRecord,
  type RecordBatch,
} from '../src/index.ts';

const TOPIC = 'things';

describe('the log as a service uses it', () => {
  const mongo = useMongo();
  const { logger } = testLogger();
  let receiver: OtlpReceiver;
  let tracing: Tracing;
  let tracer: Tracer;
  let metrics: Metrics;
  let log: EventLog;
  let consumer: ReturnType<EventLog['consumer']> | undefined;

  beforeEach(async () => {
    receiver = await startOtlpReceiver();
    const config = loadConfig(serviceConfig, {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_BSP_SCHEDULE_DELAY: '10',
    });
    tracing = await createTracing({ config, logger, metrics: createMetrics('process') });
    tracer = tracing.tracerOf('shop')!;
    metrics = createMetrics('shop');
    const connection = mongo.connection.useDb(mongo.newDatabase());
    const plain = createMongoEventLog({ connection, logger, metrics: createMetrics('log'), pollIntervalMs: 10 });
    await plain.start();
    await plain.ensureTopic({ name: TOPIC, partitions: 1, retentionMs: 60_000 });
    log = instrumentEventLog(plain, { metrics, tracer });
  });
  afterEach(async () => {
    await consumer?.stop();
    consumer = undefined;
    await log.stop();
    await tracing.stop();
    await receiver.stop();
  });

  /** Reads everything in one batch and waits for its span. */
  async function consume(handle: (batch: RecordBatch) => Promise<void> = async () => undefined) {
    const batches: RecordBatch[] = [];
    consumer = log.consumer({
      group: 'g',
      topic: TOPIC,
      maxRecords: 1000,
      handler: {
        position: async () => batches.at(-1)?.nextOffset ?? null,
        async handle(batch) {
          await handle(batch);
          batches.push(batch);
        },
      },
    });
    await consumer.start();
    const [processed] = await eventually(() => {
      const spans = receiver.spans.filter(({ name }) => name === `process ${TOPIC}`);
      expect(spans.length).toBeGreaterThan(0);
      return spans;
    });
    return { processed: processed!, records: batches.flatMap(({ records }) => records) };
  }

  const root = () => startSpan(tracer, { name: 'request', kind: 'server', parent: {} });
  const record = (headers?: Record<string, string>): LogRecord => ({
    key: 'k',
    value: Buffer.from('v'),
    ...(headers && { headers }),
  });

  it('carries the trace of an append to who reads it', async () => {
    const request = root();
    await withSpan(request, () => log.append(TOPIC, [record({ colour: 'red' }), record()]));
    const { processed, records } = await consume();
    const sent = receiver.spans.find(({ name }) => name === `send ${TOPIC}`);
    expect(sent).toMatchObject({ kind: 'PRODUCER', parentSpanId: request.spanContext().spanId });
    expect(processed).toMatchObject({ kind: 'CONSUMER', traceId: sent?.traceId, parentSpanId: sent?.spanId });
    expect(records[0]?.headers).toMatchObject({ colour: 'red' });
    for (const { headers } of records) expect(headers?.['traceparent']).toContain(sent?.spanId);
  });

  it('continues with the traces that records bring, each with its own', async () => {
    const [one, other] = [headersOf(root()), headersOf(root())];
    await log.append(TOPIC, [record({ ...one }), record({ ...other }), record({ ...one })]);
    const { records } = await consume();
    const traces = records.map(({ headers }) => headers?.['traceparent']?.slice(0, 35));
    expect(traces).toEqual([one, other, one].map(({ traceparent }) => traceparent.slice(0, 35)));
    expect(new Set(records.map(({ headers }) => headers?.['traceparent']))).toHaveProperty('size', 2);
  });

  it('links a batch of many traces to some of them', async () => {
    await log.append(
      TOPIC,
      Array.from({ length: 100 }, () => record({ ...headersOf(root()) })),
    );
    const { processed, records } = await consume();
    expect(records).toHaveLength(100);
    expect(processed).toMatchObject({ parentSpanId: '' });
    expect(processed.links).toHaveLength(32);
    expect(records[0]?.headers?.['traceparent']).toContain(processed.links[0]);
  });

  it('times appends and handled batches by what came of them', async () => {
    await log.append(TOPIC, [record()]);
    await expect(log.append('missing', [record()])).rejects.toThrow('missing');
    let rejected = false;
    await consume(async () => {
      if (rejected) return;
      rejected = true;
      throw new Error('not yet');
    });
    await eventually(async () => {
      const served = await metrics.registry.metrics();
      const count = (series: string) => Number(new RegExp(`${series} (\\d+)`).exec(served)?.[1]);
      expect(count(`event_log_append_duration_seconds_count{service="shop",topic="${TOPIC}",outcome="appended"}`)).toBe(
        1,
      );
      expect(count('event_log_append_duration_seconds_count{service="shop",topic="missing",outcome="failed"}')).toBe(1);
      const handled = `event_log_handle_duration_seconds_count{service="shop",group="g",topic="${TOPIC}"`;
      expect(count(`${handled},outcome="rejected"}`)).toBe(1);
      expect(count(`${handled},outcome="applied"}`)).toBe(1);
    });
    expect(
      receiver.spans
        .filter(({ failed }) => failed)
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual([`process ${TOPIC}`, 'send missing']);
  });
});
