import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { freePort } from '@tollkeeper/managed-process';
import { eventually, startOtlpReceiver } from '@tollkeeper/testing';
import { logIn } from '../src/api.client.ts';
import {
  newDataDirectory,
  removeDataDirectory,
  type StandaloneProcess,
  startStandalone,
} from '@tollkeeper/testing/standalone-process';
import { describeObservability, type Observers, startObservers } from '../src/suites/observability.suite.ts';
import { postBlocked, watchBlocked } from '../src/watched.calls.ts';
import { startWebhookReceiver } from '../src/webhook.receiver.ts';
import { newWorkspace } from '../src/workspace.ts';

describe('a standalone that is observed', () => {
  let observers: Observers;
  let dataDirectory: string;
  let opsPort: number;
  let standalone: StandaloneProcess;

  beforeAll(async () => {
    [dataDirectory, opsPort, observers] = await Promise.all([newDataDirectory(), freePort(), startObservers()]);
    const added = { OPS_PORT: String(opsPort), TOLLKEEPER_ALLOW_CIDRS: '127.0.0.0/8' };
    standalone = await startStandalone({ dataDirectory, env: { ...observers.env, ...added } });
  });
  afterAll(async () => {
    await standalone?.end('SIGTERM');
    await observers.stop();
    await removeDataDirectory(dataDirectory);
  });

  describeObservability(async () => ({
    ...standalone,
    observers,
    metricsUrls: [`http://127.0.0.1:${opsPort}/metrics`],
  }));
});

describe('a tracing back end that is down', () => {
  it('costs nothing but the traces: events are taken, alerts delivered, and a stop is not delayed', async () => {
    const [dataDirectory, collector, receiver] = await Promise.all([
      newDataDirectory(),
      startOtlpReceiver(),
      startWebhookReceiver(),
    ]);
    await collector.stop();
    const standalone = await startStandalone({
      dataDirectory,
      env: {
        TOLLKEEPER_ALLOW_CIDRS: '127.0.0.0/8',
        NODE_EXTRA_CA_CERTS: receiver.certificateFile,
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_BSP_SCHEDULE_DELAY: '100',
      },
    });
    try {
      const owner = await logIn(standalone, standalone.owner);
      const workspace = await newWorkspace(owner);
      await watchBlocked(owner, workspace, receiver.url);
      expect((await postBlocked(standalone, workspace.apiKey)).status).toBe(202);
      await eventually(() => expect(receiver.received).toHaveLength(1));
      const complaint = () => expect(standalone.logs()).toContain('OTEL_EXPORTER_OTLP_ENDPOINT');
      await eventually(complaint);
      expect(await standalone.end('SIGTERM')).toBe(0);
    } finally {
      await standalone.end('SIGKILL');
      await receiver.stop();
      await removeDataDirectory(dataDirectory);
    }
  });
});
