import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { addressSetting, callsOf } from '@tollkeeper/topology';
import { NODE_FLAGS } from '@tollkeeper/fleet';
import { markdownTable } from '@tollkeeper/testing/markdown-table';
import { describeMachine } from './machine.ts';
import { startNginx } from './nginx.process.ts';
import { cpuSeconds } from '@tollkeeper/testing/processor-time';
import { startServer } from './server.process.ts';
import type { IdentityAddress } from './servers/identity.server.ts';
import type { LoadRequest, LoadResult } from './servers/load.worker.ts';
import { measureStandalone } from './standalone.footprint.ts';
import { median, whole } from './statistics.ts';

/** A proxy under load, with the results of its rounds. */
interface Contender {
  name: string;
  url: string;
  headers: Record<string, string>;
  /** The process of the proxy. */
  pid: number;
  rounds: LoadResult[];
  /** Processor time of `pid` in microseconds per request, over all rounds. */
  cpuMicros: number[];
}

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '9' },
    seconds: { type: 'string', default: '4' },
    connections: { type: 'string', default: '32' },
    'skip-standalone': { type: 'boolean', default: false },
  },
});
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);
const connections = Number(values.connections);
const WARM_UP_SECONDS = 3;
const PAGE_PATH = '/assets/app.js';
const stops: (() => Promise<void>)[] = [];

try {
  const contenders = await startContenders();
  await measure(contenders);
  report(contenders);
} finally {
  for (const stop of stops.toReversed()) await stop();
}
if (!values['skip-standalone']) await reportStandalone();

async function start<Address>(
  script: string,
  env?: Record<string, string>,
  flags?: readonly string[],
): Promise<Address & { pid: number }> {
  const server = await startServer<Address>(script, env, flags);
  stops.push(server.stop);
  return { ...server.address, pid: server.process.pid ?? 0 };
}

async function startContenders(): Promise<Contender[]> {
  const CALLER_TOKEN_SECRET = randomBytes(32).toString('base64url');
  const upstream = await start<{ url: string }>('upstream.server.ts');
  const baseline = await start<{ url: string }>('baseline.server.ts', { UPSTREAM: upstream.url });
  const identity = await start<IdentityAddress>('identity.server.ts', { CALLER_TOKEN_SECRET });
  const environment = {
    ...{ HOST: '127.0.0.1', HTTP_PORT: '0', PUBLIC_URL: 'http://localhost:8080', CALLER_TOKEN_SECRET },
    ...Object.fromEntries(callsOf('gateway').map((call) => [addressSetting(call), upstream.url])),
    ...{ IDENTITY_GRPC: identity.grpcAddress, IDENTITY_HTTP: identity.httpUrl },
    // All load comes from one address.
    PUBLIC_BYTES_PER_SECOND: '1000000000',
  };
  const gateway = await start<{ url: string }>('gateway.server.ts', environment, NODE_FLAGS);
  const nginx = await startNginx(upstream.url);
  if (nginx !== null) stops.push(nginx.stop);

  const apiPath = `/w/${identity.slug}/api/v1/dashboard/spend`;
  const headers = { cookie: await logIn(gateway.url, identity) };
  const contender = (name: string, { url, pid }: { url: string; pid: number }, path = apiPath): Contender => ({
    ...{ name, url: `${url}${path}`, pid, headers },
    ...{ rounds: [], cpuMicros: [] },
  });
  return [
    contender('express 5 + http-proxy-middleware 4, bare', baseline),
    contender('gateway, the API: session, tenant, access, undici', gateway),
    contender('gateway, a page: http-proxy-middleware 4', gateway, PAGE_PATH),
    ...(nginx === null ? [] : [contender('nginx with auth_request, 1 worker', nginx)]),
  ];
}

async function logIn(gatewayUrl: string, { email, password }: IdentityAddress): Promise<string> {
  const response = await fetch(`${gatewayUrl}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password }),
  });
  const [cookie] = response.headers.getSetCookie();
  if (response.status !== 200 || cookie === undefined) throw new Error(`login answered ${response.status}`);
  return cookie.split(';', 1)[0] ?? '';
}

/** Rounds interleave the contenders, each starting with another one, so that noise affects all alike. */
async function measure(contenders: Contender[]): Promise<void> {
  const load = await startServer('load.worker.ts');
  stops.push(load.stop);
  const run = async ({ name, url, headers }: Contender, duration: number): Promise<LoadResult> => {
    load.process.send({ url, headers, connections, seconds: duration } satisfies LoadRequest);
    const [result] = (await once(load.process, 'message')) as [LoadResult];
    if (result.failed > 0) throw new Error(`${name}: ${result.failed} requests failed`);
    return result;
  };
  for (const contender of contenders) await run(contender, WARM_UP_SECONDS);
  for (let round = 0; round < rounds; round += 1) {
    for (let turn = 0; turn < contenders.length; turn += 1) {
      const contender = contenders[(round + turn) % contenders.length];
      if (contender === undefined) continue;
      const before = cpuSeconds(contender.pid);
      const result = await run(contender, seconds);
      contender.rounds.push(result);
      const requests = result.requestsPerSecond * seconds;
      contender.cpuMicros.push(((cpuSeconds(contender.pid) - before) / requests) * 1e6);
    }
    console.error(
      `round ${round + 1} of ${rounds}: ${contenders.map((each) => whole(rateOf(each, round))).join(' / ')} requests/s`,
    );
  }
}

function rateOf(contender: Contender, round: number): number {
  return contender.rounds[round]?.requestsPerSecond ?? NaN;
}

function report(contenders: Contender[]): void {
  const [baseline] = contenders;
  const rows = contenders.map((contender) => {
    const ratios = contender.rounds.map(
      ({ requestsPerSecond }, round) => requestsPerSecond / rateOf(baseline ?? contender, round),
    );
    return [
      contender.name,
      whole(median(contender.rounds.map(({ requestsPerSecond }) => requestsPerSecond))),
      `${Math.round(median(ratios) * 100)} %`,
      median(contender.cpuMicros).toFixed(0),
      median(contender.rounds.map(({ p50Ms }) => p50Ms)).toFixed(1),
      median(contender.rounds.map(({ p99Ms }) => p99Ms)).toFixed(1),
    ];
  });
  console.log(`## Gateway\n\n${describeMachine()}`);
  console.log(
    `- ${rounds} interleaved rounds of ${seconds} s, ${connections} connections, medians; one process each\n`,
  );
  console.log(
    markdownTable(['proxied GET', 'requests/s', 'of the bare proxy', 'CPU µs/request', 'p50 ms', 'p99 ms'], rows),
  );
  console.log(
    '\nGoal: the API keeps at least 90 % of the bare proxy with at most 1.3 times its p99, and is not slower than nginx with auth_request.',
  );
}

async function reportStandalone(): Promise<void> {
  const rows = (await measureStandalone()).map(({ moment, standalone, mongod }) => [
    moment,
    ...[standalone, mongod, standalone + mongod].map(whole),
  ]);
  console.log(`\n${markdownTable(['standalone, resident MB', 'node', 'mongod', 'together'], rows)}`);
  console.log('\nGoal: below 400 MB together, at both moments.');
}
