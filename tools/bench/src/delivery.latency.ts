import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { newDataDirectory, OWNER, removeDataDirectory, startStandalone } from '@tollkeeper/testing/standalone-process';
import { generate } from 'selfsigned';
import { eventNow, postEvents, settledNow, UNLIMITED_EVENTS } from './posted.events.ts';

/** Milliseconds from the 202 of the event that fires an alert to its webhook, one per alert. */
export interface DeliveryLatencies {
  milliseconds: number[];
  /** Alerts whose webhook did not arrive in time. */
  missing: number;
  backgroundPerSecond: number;
}

const ALERTS = 200;
const PAUSE_MS = 150;
/** Each rule has its own event type, and pauses for longer than its window before it fires again. */
const RULES = 20;
const CHANNELS = 5;
const BACKGROUND_PER_SECOND = 200;
const BACKGROUND_EVERY_MS = 100;
const LAST_MS = 10_000;

/** Fires alerts one by one on a standalone during other traffic, and measures the time to their webhooks. */
export async function measureDeliveries(): Promise<DeliveryLatencies> {
  const receiver = await startReceiver();
  const dataDirectory = await newDataDirectory();
  const allowed = { TOLLKEEPER_ALLOW_CIDRS: '127.0.0.0/8', NODE_EXTRA_CA_CERTS: receiver.certificateFile };
  const standalone = await startStandalone({ dataDirectory, env: { ...UNLIMITED_EVENTS, ...allowed } });
  const { baseUrl: url, apiKey: key } = standalone;
  const background = setInterval(() => {
    const count = (BACKGROUND_PER_SECOND * BACKGROUND_EVERY_MS) / 1_000;
    postEvents(
      url,
      key,
      Array.from({ length: count }, (_, index) => settledNow(index)),
    ).catch(console.error);
  }, BACKGROUND_EVERY_MS);
  try {
    await createRules(url, receiver.url);
    const acceptedAt = new Map<string, number>();
    for (let alert = 0; alert < ALERTS; alert += 1) {
      const event = eventNow(`bench.rule_${alert % RULES}`, {});
      await postEvents(url, key, [event]);
      acceptedAt.set(event.id, performance.now());
      await delay(PAUSE_MS);
    }
    const deadline = performance.now() + LAST_MS;
    while (receiver.arrivedAt.size < ALERTS && performance.now() < deadline) await delay(50);
    const milliseconds = [...acceptedAt].flatMap(([id, at]) => {
      const arrived = receiver.arrivedAt.get(id);
      return arrived === undefined ? [] : [Math.max(0, arrived - at)];
    });
    return { milliseconds, missing: ALERTS - milliseconds.length, backgroundPerSecond: BACKGROUND_PER_SECOND };
  } finally {
    clearInterval(background);
    await standalone.end('SIGTERM');
    await removeDataDirectory(dataDirectory);
    await receiver.stop();
  }
}

async function createRules(url: string, destination: string): Promise<void> {
  const login = await fetch(`${url}/api/v1/auth/login`, post(OWNER));
  const cookie = login.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const { workspaces } = (await login.json()) as { workspaces: { id: string }[] };
  const create = async (path: string, body: object): Promise<string> => {
    const answer = await fetch(`${url}/w/demo/api/v1/alerts/${path}`, post(body, { cookie }));
    if (answer.status !== 201) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
    return ((await answer.json()) as { id: string }).id;
  };
  const channels: string[] = [];
  for (let channel = 0; channel < CHANNELS; channel += 1) {
    channels.push(await create('channels', { channel_type: 'webhook', config: { url: `${destination}/${channel}` } }));
  }
  for (let rule = 0; rule < RULES; rule += 1) {
    await create('rules', {
      ...{ name: `Rule ${rule}`, severity: 'low', scope_type: 'workspace', scope_id: workspaces[0]?.id },
      rule_kind: 'event_count_gte',
      rule_config: { window_seconds: 1, threshold: 1, filters: { event_types: [`bench.rule_${rule}`] } },
      channel_config_ids: [channels[rule % CHANNELS]],
    });
  }
}

function post(body: object, headers: Record<string, string> = {}): RequestInit {
  return { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) };
}

/** An https destination with a self-signed certificate, which notes when each event's first webhook arrived. */
async function startReceiver() {
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'bench destination' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
  });
  const directory = await mkdtemp(join(tmpdir(), 'tollkeeper-receiver-'));
  const certificateFile = join(directory, 'ca.pem');
  await writeFile(certificateFile, cert);
  const arrivedAt = new Map<string, number>();
  const server = createServer({ key, cert }, (request, response) => {
    const at = performance.now();
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      response.end('ok');
      const { type, data } = JSON.parse(Buffer.concat(chunks).toString()) as Notification;
      const id = data.sample_event_ids[0] ?? '';
      if (type === 'alert.fired' && !arrivedAt.has(id)) arrivedAt.set(id, at);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    certificateFile,
    arrivedAt,
    async stop() {
      server.closeAllConnections();
      server.close();
      await rm(directory, { recursive: true });
    },
  };
}

interface Notification {
  type: string;
  data: { sample_event_ids: string[] };
}
