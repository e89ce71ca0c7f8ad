import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { AppError } from '@tollkeeper/kernel';
import { eventually, type OtlpReceiver, startOtlpReceiver, testLogger } from '@tollkeeper/testing';
import {
  activeTrace,
  createMetrics,
  createTracing,
  endSpan,
  headersOf,
  inSpan,
  loadConfig,
  serviceConfig,
  startSpan,
  type Tracer,
  type Tracing,
} from '../src/index.ts';

const SAMPLED_PARENT = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };
const UNSAMPLED_PARENT = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00' };

describe('tracing', () => {
  let receiver: OtlpReceiver;
  let tracing: Tracing | undefined;
  const { logger, lines } = testLogger();
  let metrics = createMetrics('test');

  async function trace(env: Record<string, string> = {}): Promise<Tracer> {
    const OTEL_EXPORTER_OTLP_ENDPOINT = receiver.url;
    const config = loadConfig(serviceConfig, { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_BSP_SCHEDULE_DELAY: '10', ...env });
    metrics = createMetrics('test');
    tracing = await createTracing({ config, logger, metrics });
    const tracer = tracing.tracerOf('shop', '1.2.3');
    if (tracer === undefined) throw new Error('nothing is traced');
    return tracer;
  }
  const work = (tracer: Tracer, parent?: { traceparent: string }) =>
    endSpan(startSpan(tracer, { name: 'work', kind: 'internal', parent }));

  beforeEach(async () => {
    receiver = await startOtlpReceiver();
  });
  afterEach(async () => {
    await tracing?.stop();
    await receiver.stop();
  });

  it('makes no tracers without an endpoint', async () => {
    tracing = await createTracing({ config: loadConfig(serviceConfig, {}), logger, metrics: createMetrics('test') });
    expect(tracing.tracerOf('shop')).toBeUndefined();
  });

  it('identifies each service by its name and version', async () => {
    work(await trace({ OTEL_RESOURCE_ATTRIBUTES: 'service.name=other,team=a%20b' }));
    tracing?.tracerOf('till')?.startSpan('sale').end();
    await tracing?.stop();
    expect(receiver.spans.map(({ service }) => service).toSorted()).toEqual(['shop', 'till']);
    expect(receiver.spans.find(({ service }) => service === 'shop')?.resource).toMatchObject({
      'service.version': '1.2.3',
      team: 'a b',
    });
  });

  it('sends what waits at a stop', async () => {
    work(await trace({ OTEL_BSP_SCHEDULE_DELAY: '60000' }));
    expect(receiver.spans).toEqual([]);
    await tracing?.stop();
    expect(receiver.spans).toHaveLength(1);
  });

  it('keeps a bounded number of spans while the endpoint is down', async () => {
    await receiver.stop();
    const tracer = await trace({ OTEL_BSP_MAX_QUEUE_SIZE: '100' });
    for (let i = 0; i < 5_000; i += 1) work(tracer);
    receiver = await startOtlpReceiver(Number(new URL(receiver.url).port));
    // One batch in flight, which is retried, and one queue.
    await eventually(() => expect(receiver.spans).toHaveLength(200));
  });

  it('says once, with what to do, that an endpoint refuses spans, and counts them', async () => {
    receiver.refuse(401);
    const tracer = await trace();
    for (let exports = 1; exports <= 3; exports += 1) {
      work(tracer);
      await eventually(async () =>
        expect(await metrics.registry.metrics()).toContain(
          `otlp_spans_total{outcome="failed",service="test"} ${exports}`,
        ),
      );
    }
    const complaints = lines().filter(({ msg }) => String(msg).includes('OTEL_EXPORTER_OTLP_ENDPOINT'));
    expect(complaints).toHaveLength(1);
    expect(complaints[0]).toMatchObject({ level: 'warn', reason: expect.stringContaining('401') });
  });

  it.each([
    ['parentbased_always_on', UNSAMPLED_PARENT, 0],
    ['parentbased_always_off', SAMPLED_PARENT, 1],
    ['parentbased_traceidratio', undefined, 0],
    ['traceidratio', SAMPLED_PARENT, 0],
    ['always_off', SAMPLED_PARENT, 0],
    ['always_on', UNSAMPLED_PARENT, 1],
  ])('decides by the sampler %s', async (OTEL_TRACES_SAMPLER, parent, kept) => {
    const tracer = await trace({ OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG: '0' });
    work(tracer, parent);
    await tracing?.stop();
    expect(receiver.spans).toHaveLength(kept);
  });

  it('hands a trace on with the decision that it is not kept', async () => {
    const tracer = await trace();
    const span = startSpan(tracer, { name: 'work', kind: 'server', parent: UNSAMPLED_PARENT });
    expect(headersOf(span).traceparent).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-00$/);
  });

  it('begins a trace where what came with a message is none', async () => {
    const span = startSpan(await trace(), { name: 'work', kind: 'server', parent: { traceparent: 'rubbish' } });
    endSpan(span);
    await tracing?.stop();
    expect(receiver.spans).toMatchObject([{ parentSpanId: '', kind: 'SERVER' }]);
  });

  it('lets work find its span, and reveals only the kind of its failure', async () => {
    const tracer = await trace();
    const failure = inSpan(tracer, { name: 'outer', kind: 'internal' }, async () => {
      await inSpan(tracer, { name: 'inner', kind: 'internal' }, async (span) => {
        expect(activeTrace()).toEqual(headersOf(span!));
      });
      throw new AppError('service_unavailable', 'mongodb://user:hunter2@db failed');
    });
    await expect(failure).rejects.toThrow('hunter2');
    await tracing?.stop();
    const [outer, inner] = ['outer', 'inner'].map((name) => receiver.spans.find((span) => span.name === name));
    expect(inner).toMatchObject({ parentSpanId: outer?.spanId, traceId: outer?.traceId, failed: false });
    expect(outer).toMatchObject({ failed: true, attributes: { 'error.type': 'service_unavailable' } });
    expect(JSON.stringify(receiver.spans)).not.toContain('hunter2');
  });
});
