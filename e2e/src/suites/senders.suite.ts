import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { Api } from '@tollkeeper/client';
import { eventually } from '@tollkeeper/testing';
import { MARK } from '../marked.words.ts';
import type { Disturbance, ReportingProxy } from '../reporting.proxy.ts';
import type { SearchedStage } from '../searched.stage.ts';
import { type Reported, type Sender, useSenders } from '../senders.ts';

/** A part of the names of all agents, which Tollkeeper keeps and the search must find. */
const PLANTED = `planted${randomBytes(8).toString('hex')}`;

/** The tokens of each answer of the model, and their amount. OpenInference and Langfuse report all of them. */
const CALL = {
  model: 'gpt-4o',
  input_tokens: 1200,
  cache_read_tokens: 1024,
  output_tokens: 345,
  reasoning_tokens: 128,
  amount_micros: 5170,
};
const WITHOUT_REASONING = { ...CALL, reasoning_tokens: undefined };

/** The calls with usage, the newest first: retried, streamed, plain. */
const SENDERS: (Sender & { calls: object[] })[] = [
  {
    name: 'openinference',
    command: '"$PYTHON" with_instrumentations.py openinference',
    calls: [CALL, CALL, CALL],
  },
  {
    name: 'openllmetry',
    command: '"$PYTHON" with_instrumentations.py openllmetry',
    calls: [CALL, WITHOUT_REASONING, CALL],
  },
  {
    name: 'langfuse',
    command: '"$PYTHON" with_langfuse.py',
    env: ({ url, key }) => ({
      LANGFUSE_BASE_URL: url,
      LANGFUSE_PUBLIC_KEY: 'any',
      LANGFUSE_SECRET_KEY: key,
      LANGFUSE_FLUSH_INTERVAL: '900',
    }),
    calls: [CALL, CALL, CALL],
  },
  {
    name: 'mlflow',
    command: '"$PYTHON" with_mlflow.py',
    // With the variable for all signals, mlflow-tracing also makes metrics, for which it lacks a part of MLflow.
    env: ({ url }) => ({
      OTEL_EXPORTER_OTLP_ENDPOINT: undefined,
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${url}/v1/traces`,
    }),
    calls: [WITHOUT_REASONING, WITHOUT_REASONING, WITHOUT_REASONING],
  },
];

/** Where Tollkeeper keeps the agents of calls: in the clear, and packed. */
const KEPT = [
  'tollkeeper_log.log_batches',
  'tollkeeper_dashboard.chunks',
  'tollkeeper_dashboard.chunks, packed',
  'local.oplog.rs',
];

const EXPORTERS: Sender[] = [
  { name: 'python-http', command: '"$PYTHON" export_calls.py' },
  { name: 'python-grpc', command: '"$PYTHON" export_calls.py', protocol: 'grpc' },
  { name: 'javascript-http', command: '"$NODE" export-calls.mjs' },
];

export function describeSenders(stage: SearchedStage): void {
  describe('a sender by its own package', () => {
    const senders = useSenders(stage);

    /** The newest settlements of the agent as they count, and the unmetered calls of its workspace. */
    async function countedFor({ workspace: { path }, agent }: Reported) {
      const details = await stage.owner().expect<Api.AgentDetails>({
        path: path(`/dashboard/top-agents/details?range=1m&agent_id=${agent}`),
      });
      const { unmetered, active_agents } = await stage.owner().expect<Api.Overview>({
        path: path('/dashboard/overview?range=1m'),
      });
      const calls = details.recent.map((call) => ({
        ...{ model: call.model, amount_micros: call.amount_micros },
        ...{ input_tokens: call.input_tokens, output_tokens: call.output_tokens },
        ...{ cache_read_tokens: call.cache_read_tokens, cache_write_tokens: call.cache_write_tokens },
        reasoning_tokens: call.reasoning_tokens,
      }));
      const { total_micros, unique_settlements } = details.metrics;
      return { calls, total_micros, unique_settlements, unmetered: unmetered.calls, active_agents };
    }

    async function expectCounted(reported: Reported, calls: readonly object[], unmetered: number): Promise<void> {
      const counted = {
        calls,
        total_micros: calls.length * CALL.amount_micros,
        unique_settlements: calls.length,
        ...{ unmetered, active_agents: 1 },
      };
      await eventually(async () => expect(await countedFor(reported)).toEqual(counted));
      // Nothing more comes of what was reported: the edge has answered all of it, and the newest is counted.
      await eventually(async () => expect(await stage.watch(reported.workspace.slug)).toContain(reported.agent));
    }

    /**
     * What the sender sent to Tollkeeper since then, and the statuses that it got. Attempts that Tollkeeper itself
     * refused are left out, which it does if the machine is busy.
     */
    function sentBy(proxy: ReportingProxy, { words }: Reported, since: number) {
      const exchanges = proxy.exchanges
        .slice(since)
        .filter(({ status, answer }) => answer === '' || (status !== 503 && status !== '14'));
      const bodies = exchanges.map(({ sent }) => sent);
      return {
        bodies,
        statuses: exchanges.map(({ status }) => status),
        hasWords: Object.values(words).map((word) => bodies.every((body) => body.includes(word))),
      };
    }

    it.each(SENDERS)(
      '$name: calls with usage count with their tokens and micros, those without are unmetered, and failed ones cost nothing',
      async ({ calls, ...sender }) => {
        const before = senders.http().exchanges.length;
        const reported = await senders.run(sender, PLANTED);
        await expectCounted(reported, calls, 1);
        expect(sentBy(senders.http(), reported, before)).toMatchObject({ statuses: [200], hasWords: [true, true] });
        // Three with an answer, one refused, and one that was retried.
        expect(senders.model().attempts(reported.words.answer)).toBe(6);
      },
    );

    it('a call that OpenLLMetry reports as a span around that of OpenInference counts once', async () => {
      const command = '"$PYTHON" with_instrumentations.py openinference openllmetry';
      const reported = await senders.run({ name: 'both', command }, PLANTED);
      // The inner span has the reasoning tokens of streams, and counts.
      await expectCounted(reported, [CALL, CALL, CALL], 1);
    });

    describe.each(EXPORTERS)("OpenTelemetry's exporter $name", (sender) => {
      const proxy = () => (sender.protocol === 'grpc' ? senders.grpc() : senders.http());
      const [refused, accepted] = sender.protocol === 'grpc' ? ['14', '0'] : [503, 200];

      async function report(name: string, ...disturbances: Disturbance[]) {
        const before = proxy().exchanges.length;
        proxy().disturb(...disturbances);
        const reported = await senders.run({ ...sender, name: `${sender.name}-${name}` }, PLANTED);
        await expectCounted(reported, [CALL, CALL], 0);
        return sentBy(proxy(), reported, before);
      }

      it('sends a batch that was refused twice until it is taken, and each call counts once', async () => {
        const { statuses, bodies, hasWords } = await report('refused', 'refused', 'refused');
        expect(statuses).toEqual([refused, refused, accepted]);
        expect(hasWords).toEqual([true, true]);
        expect(bodies.map((body) => body.equals(bodies[0]!))).toEqual([true, true, true]);
      });

      it('sends a batch again whose answer was lost, and each call counts once', async () => {
        const { statuses } = await report('cut', 'cut');
        expect(statuses).toEqual([undefined, accepted]);
      });
    });

    describe('a search through all that was written and answered', () => {
      it('finds the name of every agent in databases, packed and not, and in answers, and a path in logs and traces', async () => {
        const found = await stage.find(PLANTED, senders.workspaces);
        const agentsIn = (place: string) =>
          senders.agents.filter((agent) => found.some((each) => each.place === place && each.text.startsWith(agent)));
        for (const place of KEPT) expect([place, agentsIn(place)]).toEqual([place, senders.agents]);
        const places = found.map(({ place }) => place);
        for (const agent of senders.agents) {
          expect(places).toContainEqual(expect.stringMatching(new RegExp(`^answer to GET .*agent_id=${agent}$`)));
        }
        const ofPath = (await stage.find('/v1/traces', [])).map(({ place }) => place);
        expect(ofPath).toEqual(expect.arrayContaining(['log', 'traces']));
      });

      it('finds no word of any prompt or answer, not even of a report that does not decode', async () => {
        const { apiKey } = stage.target();
        const body = `{"resourceSpans": [{"${MARK}-broken`;
        const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
        await eventually(async () => {
          const { status } = await fetch(`${senders.http().url}/v1/traces`, { method: 'POST', headers, body });
          expect(status).toBe(400);
        });
        for (const { path, answer } of [...senders.http().exchanges, ...senders.grpc().exchanges]) {
          stage.add(`answer to POST ${path}`, answer);
        }
        expect(await stage.find(MARK, senders.workspaces)).toEqual([]);
      });
    });
  });
}
