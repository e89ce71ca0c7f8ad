// `npm run bench:otlp`: what it costs to take OTLP, from the bytes of a body to the encoded records of the log, against
// reading its bytes alone. One process, without HTTP and without a log. Then a batch over HTTP and over gRPC.
// `--collector PATH` compares that with an OpenTelemetry Collector that drops spans; `--minutes N` watches memory.
import { parseArgs } from 'node:util';
import { ASKED } from '@tollkeeper/call-facts';
import { DEFAULT_REPORT_MAPPING } from '@tollkeeper/contracts';
import { createTurns, provenTenantId } from '@tollkeeper/kernel';
import { createOverrideBook, createPriceBook, readBundledTable } from '@tollkeeper/prices';
import { markdownTable } from '@tollkeeper/testing/markdown-table';
import { createEventIntake } from '../src/domain/event.intake.ts';
import { createCallIntake } from '../src/intake/call.intake.ts';
import type { Encoding } from '../src/intake/decode.ts';
import { decodeJson } from '../src/intake/otlp-json.ts';
import { decodeProtobuf, type Signal } from '../src/intake/otlp-protobuf.ts';
import { traces } from './otlp.bodies.ts';
import { startCollector } from './otlp.collector.ts';
import { watchMemory } from './otlp.memory.ts';
import { measureTransports, startIntake } from './otlp.transports.ts';
import { bodyOf, RECEIVED_MS, RECORDED } from './senders.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '7' },
    'round-ms': { type: 'string', default: '1000' },
    watched: { type: 'boolean', default: false },
    collector: { type: 'string' },
    minutes: { type: 'string', default: '0' },
  },
});
const ROUNDS = Number(values.rounds);
const ROUND_MS = Number(values['round-ms']);
const CALLS = 10_000;
/** The batch of OpenTelemetry's SDKs. */
const BATCH = 512;
const MIB = 1024 * 1024;
const DECODERS = { protobuf: decodeProtobuf, json: decodeJson };

interface Body {
  bytes: Buffer;
  signal: Signal;
  encoding: Encoding;
}

const key = {
  tenantId: provenTenantId('ws_bench'),
  keyId: 'key_bench',
  role: 'developer' as const,
  labels: {},
  watched: values.watched,
  reports: DEFAULT_REPORT_MAPPING,
};
const waits = new AbortController().signal;
let calls = 0;
const events = createEventIntake({
  append: async (records) => void (calls += records.length),
  labelsOf: () => new Map(),
  oweBytes: () => undefined,
  clock: () => RECEIVED_MS,
});
const intake = createCallIntake<typeof key>({
  accept: events.accept,
  chargeEvents: () => undefined,
  oweEvents: () => undefined,
  count: () => undefined,
  countPlansLeftOut: () => undefined,
  overridesOf: () => createOverrideBook([]),
  unknownPlansOf: () => new Set(),
  show: () => undefined,
  prices: createPriceBook(readBundledTable()),
  turns: {
    small: createTurns({ capacity: MIB, ofSender: 8 }),
    large: createTurns({ capacity: 64 * MIB, ofSender: 1 }),
  },
  clock: () => RECEIVED_MS,
});

/** Number of records in a body, by reading it without keeping anything. */
function walk({ bytes, signal, encoding }: Body): number {
  let records = 0;
  for (const record of DECODERS[encoding](bytes, signal, ASKED)) if (record !== undefined) records += 1;
  return records;
}

const recorded = (encoding: Encoding): Body[] =>
  RECORDED.filter(({ path, headers }) => {
    const isJson = headers['content-type'] === 'application/json';
    return !path.endsWith('/litellm') && isJson === (encoding === 'json');
  }).map(({ file, path }) => ({ bytes: bodyOf(file), signal: path.endsWith('/logs') ? 'log' : 'span', encoding }));

function manyCalls(encoding: Encoding, length = CALLS): Body {
  const spans = Array.from({ length }, (_, index) => ({
    traceId: index.toString(16).padStart(32, '1'),
    spanId: index.toString(16).padStart(16, '1'),
    endNanos: BigInt(RECEIVED_MS) * 1_000_000n,
    attributes: [
      ['gen_ai.operation.name', 'chat'],
      ['gen_ai.response.id', `chatcmpl-${index.toString(36).padStart(29, 'a')}`],
      ['gen_ai.response.model', 'gpt-4o'],
      ['gen_ai.provider.name', 'openai'],
      ['gen_ai.agent.name', `agent-${index % 100}`],
      ['gen_ai.usage.input_tokens', 1200n],
      ['gen_ai.usage.output_tokens', 345n],
      ['gen_ai.usage.cost', 0.00517],
      ['gen_ai.input.messages', 'x'.repeat(1_000)],
    ] as const,
  }));
  return { bytes: traces({ spans }, encoding), signal: 'span', encoding };
}

const cases = (['protobuf', 'json'] as const).flatMap((encoding) => [
  { name: `recorded bodies, ${encoding}`, bodies: recorded(encoding) },
  { name: `${CALLS} calls in a body, ${encoding}`, bodies: [manyCalls(encoding)] },
]);

/** Records per second of processor time of this process. */
async function rateOf(bodies: readonly Body[], read: (body: Body) => number | Promise<number>): Promise<number> {
  const cpu = process.cpuUsage();
  const end = performance.now() + ROUND_MS;
  let records = 0;
  while (performance.now() < end) for (const body of bodies) records += await read(body);
  const { user, system } = process.cpuUsage(cpu);
  return records / ((user + system) / 1e6);
}

const median = (of: number[]) => [...of].sort((a, b) => a - b)[Math.floor(of.length / 2)]!;
const whole = (value: number) => Math.round(value).toLocaleString('en-US');
const perSecond = async (of: (typeof cases)[number]) => {
  const recordsOf = new Map(of.bodies.map((body) => [body, walk(body)]));
  const take = async (body: Body) => {
    await intake.takeOtlp(key, body, { path: '/v1/traces', agent: undefined, signal: waits });
    return recordsOf.get(body)!;
  };
  return { walked: await rateOf(of.bodies, walk), taken: await rateOf(of.bodies, take) };
};

const rates = new Map(cases.map(({ name }) => [name, [] as Awaited<ReturnType<typeof perSecond>>[]]));
for (const each of cases) await perSecond(each);
for (let round = 0; round < ROUNDS; round += 1) {
  process.stderr.write(`round ${round + 1} of ${ROUNDS}\n`);
  for (const each of cases) rates.get(each.name)!.push(await perSecond(each));
}
const rows = cases.map(({ name, bodies }) => {
  const of = rates.get(name)!;
  const records = bodies.reduce((sum, body) => sum + walk(body), 0);
  return [
    name,
    whole(records),
    whole(bodies.reduce((sum, { bytes }) => sum + bytes.length, 0) / records),
    whole(median(of.map(({ walked }) => walked))),
    whole(median(of.map(({ taken }) => taken))),
    `${Math.round(100 * median(of.map(({ walked, taken }) => taken / walked)))} %`,
  ];
});
process.stdout.write(
  `Records per second of one core, medians of ${ROUNDS} interleaved rounds of ${ROUND_MS / 1000} s:\n\n` +
    `${markdownTable(['', 'records', 'bytes each', 'read alone', 'taken', 'of reading alone'], rows)}\n\n`,
);

const bodies = { protobuf: manyCalls('protobuf', BATCH).bytes, json: manyCalls('json', BATCH).bytes };
const ingest = await startIntake(intake, key);
const collector = values.collector === undefined ? undefined : await startCollector(values.collector);
const receivers = [ingest, ...(collector === undefined ? [] : [collector])];
const requests = Math.ceil(ROUND_MS / 10);
const ways = await measureTransports(receivers, { bodies, requests, rounds: ROUNDS });
await collector?.stop();
const columns = ['', 'ms', 'calls/s', ...(collector === undefined ? [] : ['Collector: ms', 'spans/s', 'of its rate'])];
const figuresOf = (micros: number[]) => [(median(micros) / 1_000).toFixed(2), whole((BATCH * 1e6) / median(micros))];
const transports = ways.map(({ name, micros: [ours = [], theirs] }) => {
  const ratio = theirs && median(ours.map((micros, round) => theirs[round]! / micros));
  return [name, ...figuresOf(ours), ...(theirs ? [...figuresOf(theirs), `${Math.round(100 * ratio!)} %`] : [])];
});
process.stdout.write(
  `Processor time of a batch of ${BATCH} calls (${whole(bodies.protobuf.length / 1024)} KiB as protobuf), medians of ` +
    `the same number of rounds:\n\n${markdownTable(columns, transports)}\n\n`,
);

const minutes = Number(values.minutes);
if (minutes > 0) process.stdout.write(`${await watchMemory(ingest, bodies, minutes)}\n\n`);
await ingest.stop();
process.stdout.write(`${whole(calls)} events, ${whole(process.memoryUsage.rss() / MIB)} MiB resident at the end\n`);
