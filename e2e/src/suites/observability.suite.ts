import { randomBytes } from 'node:crypto';
import { beforeAll, expect, it } from '@jest/globals';
import { eventually, type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from '@tollkeeper/testing';
import { logIn } from '../api.client.ts';
import { documentedMetrics, servedMetrics } from '../metrics.page.ts';
import type { Target } from '../target.ts';
import { type WebhookReceiver, startWebhookReceiver } from '../webhook.receiver.ts';
import { postBlocked, SIGNING_SECRET, watchBlocked } from '../watched.calls.ts';
import { type TestWorkspace, newWorkspace } from '../workspace.ts';

const HOOK_SECRET = 'T0PSECRETPATH';

/** The trace back end and the receiver of alerts. */
export interface Observers {
  readonly collector: OtlpReceiver;
  readonly receiver: WebhookReceiver;
  /** The settings that make a Tollkeeper use them. */
  readonly env: NodeJS.ProcessEnv;
  stop(): Promise<void>;
}

/** A Tollkeeper that was started with the environment of its observers. */
export interface Observed extends Target {
  observers: Observers;
  /** The URLs of its processes' metrics. */
  metricsUrls: string[];
}

export async function startObservers(): Promise<Observers> {
  const [collector, receiver] = await Promise.all([startOtlpReceiver(), startWebhookReceiver()]);
  return {
    ...{ collector, receiver },
    env: {
      LOG_LEVEL: 'trace',
      NODE_EXTRA_CA_CERTS: receiver.certificateFile,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=letmein',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=e2e',
      OTEL_BSP_SCHEDULE_DELAY: '100',
    },
    stop: async () => void (await Promise.all([collector.stop(), receiver.stop()])),
  };
}

/** Follows one event through a running Tollkeeper, in its traces, its log and its metrics. */
export function describeObservability(observe: () => Promise<Observed>): void {
  const traceId = randomBytes(16).toString('hex');
  const callerSpanId = randomBytes(8).toString('hex');
  let collector: OtlpReceiver;
  let receiver: WebhookReceiver;
  let observed: Observed;
  let workspace: TestWorkspace;
  let cookie: string;

  const inTrace = () => collector.spans.filter((span) => span.traceId === traceId);
  const all = (service: string, name: string) =>
    inTrace().filter((span) => span.service === service && span.name === name);
  /** The service's span with this name below this parent. A repeated batch has the span again. */
  const below = (service: string, kind: string, name: string, parent: ReceivedSpan): ReceivedSpan => {
    const spans = all(service, name).filter(({ parentSpanId }) => parentSpanId === parent.spanId);
    const kinds = [...new Set(spans.map((span) => span.kind))];
    expect({ service, name, kinds }).toEqual({ service, name, kinds: [kind] });
    return spans[0]!;
  };

  beforeAll(async () => {
    observed = await observe();
    ({ collector, receiver } = observed.observers);
    const owner = await logIn(observed, observed.owner);
    cookie = owner.cookie ?? '';
    workspace = await newWorkspace(owner);
    await watchBlocked(owner, workspace, `${receiver.url}/${HOOK_SECRET}`);
    receiver.statuses.push(503);
    const traceparent = `00-${traceId}-${callerSpanId}-01`;
    expect((await postBlocked(observed, workspace.apiKey, { traceparent })).status).toBe(202);
    // The first attempt is refused, and the retry comes after five seconds. Each process exports its spans separately.
    const reports = () => new Set(all('alerts', 'process alerts.deliveries').map(({ parentSpanId }) => parentSpanId));
    const ofAttempts = ['deliver notification', 'POST', 'send alerts.deliveries'];
    await eventually(() => {
      expect(reports().size).toBe(2);
      for (const name of ofAttempts) expect(all('notifier', name).length).toBeGreaterThanOrEqual(2);
    });
  });

  it('begins a trace with the caller, and leads it over the edge and the key check into the log', () => {
    const caller = { spanId: callerSpanId } as ReceivedSpan;
    const edge = below('gateway', 'SERVER', 'POST /api/v1/events', caller);
    expect(edge.attributes).toMatchObject({ 'http.route': '/api/v1/events' });
    const ingest = below('ingest', 'SERVER', 'POST /api/v1/events', edge);
    const verify = below('ingest', 'CLIENT', 'tollkeeper.keys.v1.KeysService/VerifyKey', ingest);
    below('keys', 'SERVER', 'tollkeeper.keys.v1.KeysService/VerifyKey', verify);
    const sent = below('ingest', 'PRODUCER', 'send gateway.events', ingest);
    below('dashboard', 'CONSUMER', 'process gateway.events', sent);
  });

  it('leads the trace on from the event to the fired alert, its notification, each attempt, and back', () => {
    const [sent] = all('ingest', 'send gateway.events');
    const fired = below('alerts', 'CONSUMER', 'fire alert', sent!);
    const notified = below('alerts', 'PRODUCER', 'send alerts.notifications', fired);
    below('notifier', 'CONSUMER', 'process alerts.notifications', notified);
    const attempts = all('notifier', 'deliver notification');
    expect(attempts.map(({ parentSpanId }) => parentSpanId)).toEqual([notified.spanId, notified.spanId]);
    expect(attempts.map(({ attributes }) => Number(attributes['tollkeeper.attempt']))).toEqual([1, 2]);
    for (const [index, attempt] of attempts.entries()) {
      const request = below('notifier', 'CLIENT', 'POST', attempt);
      expect(request.attributes).toMatchObject({ 'server.address': '127.0.0.1' });
      expect(request.failed).toBe(index === 0);
    }
    for (const reported of all('notifier', 'send alerts.deliveries')) {
      expect(reported).toMatchObject({ kind: 'PRODUCER', parentSpanId: notified.spanId });
      below('alerts', 'CONSUMER', 'process alerts.deliveries', reported);
    }
  });

  it('exports spans with the headers and the attributes that were asked for', () => {
    expect(collector.headers['x-collector-key']).toBe('letmein');
    for (const { resource } of collector.spans) {
      expect(resource).toMatchObject({ 'service.namespace': 'tollkeeper', 'deployment.environment.name': 'e2e' });
    }
  });

  it('names the trace in the log lines of its requests', () => {
    const lines = observed.logs().split('\n');
    const ofTrace = lines.filter((line) => line.includes(`"trace_id":"${traceId}"`));
    const services = new Set(ofTrace.map((line) => (JSON.parse(line) as { service: string }).service));
    expect([...services]).toEqual(expect.arrayContaining(['gateway', 'ingest', 'notifier']));
  });

  it('puts no secret into a span, and sends the destination nothing of the trace', () => {
    const exported = JSON.stringify(collector.spans);
    const secret = workspace.apiKey.split('.')[1] ?? '';
    const session = cookie.split('=')[1] ?? '';
    for (const text of [secret, session, SIGNING_SECRET.slice(6), HOOK_SECRET, observed.owner.password, 'letmein']) {
      expect(text).not.toBe('');
      expect(exported).not.toContain(text);
    }
    expect(receiver.received.map(({ headers }) => headers['traceparent'])).toEqual([undefined, undefined]);
  });

  it('serves the metrics that docs/metrics.md lists, with their types and labels, and no others', async () => {
    const documented = new Map((await documentedMetrics()).map((metric) => [metric.name, metric]));
    const pages = observed.metricsUrls.map(async (url) => (await fetch(url)).text());
    const served = servedMetrics((await Promise.all(pages)).join('\n'));
    expect(served.map(({ name }) => name).toSorted()).toEqual([...documented.keys()].toSorted());
    for (const { name, type, labels } of served) {
      const known = documented.get(name);
      expect({ name, type }).toEqual({ name, type: known?.type });
      expect({ name, labels: labels.length === 0 ? known?.labels : labels }).toEqual({ name, labels: known?.labels });
    }
  });
}
