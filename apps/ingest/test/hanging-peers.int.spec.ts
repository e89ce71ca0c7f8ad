import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { halt } from '@tollkeeper/managed-process';
import { useMongo } from '@tollkeeper/testing';
import { spend, useIngest } from './ingest.stack.ts';
import { traces } from './otlp.bodies.ts';
import { exportBytes } from './reporter.client.ts';
import { bodyOf, callSpan, RECEIVED_MS } from './senders.ts';

/** Exporters lose what is not answered by then. */
const EXPORTER_WAITS_MS = 10_000;

const mongo = useMongo();
/** Filled before the services start. */
const addresses: Record<'keys' | 'identity' | 'budgets', NodeJS.ProcessEnv> = { keys: {}, identity: {}, budgets: {} };
let halted: { address: string; kill(): void };

/** A peer whose process the machine has halted: it accepts connections and never answers. */
async function startHalted() {
  const script = `
    const server = require('node:net').createServer();
    server.listen(0, '127.0.0.1', () => console.log(server.address().port));`;
  const child = spawn(process.execPath, ['--eval', script], { env: {}, stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  await halt(child.pid!);
  return { address: `127.0.0.1:${Number(line.toString())}`, kill: () => void child.kill('SIGKILL') };
}

beforeAll(async () => {
  halted = await startHalted();
  addresses.keys['KEYS_GRPC'] = halted.address;
  addresses.identity['IDENTITY_GRPC'] = halted.address;
  addresses.budgets['BUDGETS_GRPC'] = halted.address;
});
afterAll(() => halted.kill());

const withoutKeys = useIngest(mongo, undefined, addresses.keys);
const withoutIdentity = useIngest(mongo, undefined, addresses.identity);
const withoutBudgets = useIngest(mongo, undefined, addresses.budgets);
const withoutLog = useIngest(mongo, (log) => ({ ...log, append: () => Promise.withResolvers<void>().promise }));

type Ingest = ReturnType<typeof useIngest>;
const SPANS = traces({ spans: [callSpan([])] }, 'protobuf');

/** The answers of all doors to bodies that come at once, each the first of its workspace. */
async function report(ingest: Ingest) {
  ingest.clock.now = RECEIVED_MS;
  const post = async (path: string, type: string, body: Buffer | string) => {
    const headers = { authorization: `Bearer ${ingest.keys.issue().apiKey}`, 'content-type': type };
    const signal = AbortSignal.timeout(EXPORTER_WAITS_MS);
    const answer = await fetch(ingest.url() + path, { method: 'POST', headers, body: Buffer.from(body), signal });
    await answer.arrayBuffer();
    return [answer.status, answer.headers.has('retry-after')];
  };
  const metadata = { authorization: `Bearer ${ingest.keys.issue().apiKey}` };
  const [events, otlp, litellm, grpc] = await Promise.all([
    post('/api/v1/events', 'application/cloudevents+json', JSON.stringify(spend())),
    post('/v1/traces', 'application/x-protobuf', SPANS),
    post('/api/v1/intake/litellm', 'application/json', bodyOf('litellm-1.106.2-generic-single.json')),
    exportBytes(ingest.grpcAddress(), SPANS, { metadata }),
  ]);
  return { events, otlp, litellm, grpc: [grpc.code, grpc.retryAfterSeconds !== undefined] };
}

const LATER = { events: [503, true], otlp: [503, true], litellm: [503, true], grpc: ['UNAVAILABLE', true] };

describe('the first reports after a start are answered before exporters give up', () => {
  it.each([
    ['the keys service', withoutKeys],
    ['identity, which has the labels of agents,', withoutIdentity],
    ['the log', withoutLog],
  ])('if %s hangs: sent again later', async (_peer, ingest) => {
    expect(await report(ingest)).toEqual(LATER);
  });

  it('if budgets hangs: only calls without a cost are sent again later, since they need its prices', async () => {
    expect(await report(withoutBudgets)).toEqual({ ...LATER, events: [202, false], litellm: [200, false] });
  });
});
