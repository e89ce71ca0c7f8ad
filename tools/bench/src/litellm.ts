import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { type LitellmProxy, startLitellm } from '@tollkeeper/litellm/proxy';
import { startTollkeeper } from '@tollkeeper/litellm/tollkeeper';
import { startUpstream } from '@tollkeeper/litellm/upstream';
import { markdownTable } from '@tollkeeper/testing/markdown-table';
import { cpuSeconds } from '@tollkeeper/testing/processor-time';
import { describeMachine } from './machine.ts';
import { median, percentile, whole } from './statistics.ts';

/** A round of calls of a proxy. */
interface Round {
  p50Ms: number;
  p99Ms: number;
  /** Processor time of the proxy a call. */
  cpuMs: number;
}

interface Contender {
  name: string;
  proxy: LitellmProxy;
  rounds: Round[];
}

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '9' },
    /** Calls of each round and proxy. */
    calls: { type: 'string', default: '200' },
    /** Calls at a time. */
    callers: { type: 'string', default: '1' },
  },
});
const rounds = Number(values.rounds);
const calls = Number(values.calls);
const callers = Number(values.callers);
const WARM_UP_CALLS = 50;
const AGENT = 'bench';
/** What calls of this benchmark never reach. */
const BUDGET_MICROS = 1_000_000_000_000;

const stops: (() => Promise<void>)[] = [];
try {
  const contenders = await startContenders();
  const loadBefore = loadavg();
  await measure(contenders);
  report(contenders, [loadBefore, loadavg()]);
} finally {
  for (const stop of stops.toReversed()) await stop();
}

async function startContenders(): Promise<Contender[]> {
  const upstream = await startUpstream();
  stops.push(upstream.stop);
  const tollkeeper = await startTollkeeper();
  stops.push(tollkeeper.remove);
  await tollkeeper.setBudget(AGENT, BUDGET_MICROS);
  const plugin = {
    ...{ TOLLKEEPER_URL: tollkeeper.url, TOLLKEEPER_KEY: tollkeeper.key },
    // On a busy machine, a decision that takes longer is measured and not refused.
    TOLLKEEPER_TIMEOUT_SECONDS: '30',
  };
  const start = async (name: string, env: Record<string, string>, settings: object = {}): Promise<Contender> => {
    const options = { upstreamUrl: upstream.url, env: { LITELLM_LOG: 'ERROR', ...env }, settings };
    const proxy = await startLitellm(options);
    stops.push(proxy.stop);
    return { name, proxy, rounds: [] };
  };
  return [
    await start('LiteLLM alone', {}, { litellm_settings: { telemetry: false } }),
    await start('with the plug-in, call by call', plugin),
    await start('with the plug-in and leases', { ...plugin, TOLLKEEPER_LEASE_TTL_SECONDS: '60' }),
  ];
}

/** Rounds interleave the contenders, each starting with another one, so that noise affects all alike. */
async function measure(contenders: Contender[]): Promise<void> {
  for (const { proxy } of contenders) await measureRound(proxy, WARM_UP_CALLS);
  for (let round = 0; round < rounds; round += 1) {
    for (let turn = 0; turn < contenders.length; turn += 1) {
      const contender = contenders[(round + turn) % contenders.length];
      contender?.rounds.push(await measureRound(contender.proxy, calls));
    }
    const p50s = contenders.map((contender) => contender.rounds[round]?.p50Ms.toFixed(1));
    console.error(`round ${round + 1} of ${rounds}: p50 ${p50s.join(' / ')} ms`);
  }
}

async function measureRound({ url, pid }: LitellmProxy, count: number): Promise<Round> {
  const times: number[] = [];
  let left = count;
  const before = cpuSeconds(pid);
  const caller = async () => {
    while (left > 0) {
      left -= 1;
      const startedAt = performance.now();
      await call(url);
      times.push(performance.now() - startedAt);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  const cpuMs = ((cpuSeconds(pid) - before) / count) * 1_000;
  return { p50Ms: percentile(times, 50), p99Ms: percentile(times, 99), cpuMs };
}

async function call(url: string): Promise<void> {
  const messages = [{ role: 'user', content: 'What is the capital of France?' }];
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer sk-${AGENT}` },
    body: JSON.stringify({ model: 'chat', max_tokens: 50, messages }),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`LiteLLM answered ${response.status}: ${text.slice(0, 500)}`);
}

function report(contenders: Contender[], loads: number[][]): void {
  const [alone] = contenders;
  const rows = contenders.map(({ name, rounds: measured }) => {
    const added = (value: (round: Round) => number) =>
      median(measured.map((round, index) => value(round) - value(alone?.rounds[index] ?? round)));
    const ratio = (value: (round: Round) => number) =>
      median(measured.map((round, index) => value(round) / value(alone?.rounds[index] ?? round)));
    const columns = [(round: Round) => round.p50Ms, (round: Round) => round.p99Ms, (round: Round) => round.cpuMs];
    return [
      name,
      ...columns.flatMap((value) => [
        median(measured.map(value)).toFixed(1),
        `${added(value) >= 0 ? '+' : ''}${added(value).toFixed(1)}`,
        `${Math.round(ratio(value) * 100)} %`,
      ]),
    ];
  });
  const [before = '', after = ''] = loads.map((load) => load.map((value) => value.toFixed(1)).join(', '));
  console.log(`## LiteLLM\n\n${describeMachine()}`);
  console.log(`- load of the machine: ${before} before, ${after} after`);
  console.log(
    `- ${rounds} interleaved rounds of ${whole(calls)} calls, ${callers} at a time; medians of the rounds. Added times ` +
      `and ratios are against LiteLLM alone in the same round.\n`,
  );
  const names = ['p50 ms', 'p99 ms', 'CPU ms/call of LiteLLM'].flatMap((name) => [name, 'added', 'of alone']);
  console.log(markdownTable(['', ...names], rows));
}
