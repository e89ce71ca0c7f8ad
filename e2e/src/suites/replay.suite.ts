import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import { type ApiClient, logIn } from '../api.client.ts';
import type { Stage } from '../deployment.ts';
import { spendSettled } from '../events.ts';
import { addUp, type Sums, sumsOf, type Trace, startReplay, writeTrace } from '../trace.ts';
import { type TestWorkspace, newWorkspace, postEvents, reportEvents } from '../workspace.ts';

export function describeReplay({ deployment }: Pick<Stage, 'deployment'>): void {
  describe('what a gateway reported is counted exactly once', () => {
    let owner: ApiClient;
    let workspace: TestWorkspace;
    let directory: string;

    const read = <T>(path: string) => owner.expect<T>({ path: workspace.path(`/dashboard${path}`) });

    async function readSpend() {
      return sumsOf((await read<{ metrics: Sums }>('/spend?range=3m')).metrics);
    }

    /** Sums and counts from three drilldowns, which read different roll-ups. */
    async function readTotals() {
      const { points } = await read<{ points: Sums[] }>('/spend/series?range=3m');
      const { items } = await read<{ items: (Sums & { agent_id: string })[] }>('/top-agents?range=3m&limit=100');
      const agents = items.map((item) => ({ agent_id: item.agent_id, ...sumsOf(item) }));
      return { spend: await readSpend(), series: addUp(points), topAgents: addUp(items), agents };
    }

    function expectedOf({ agents }: Trace) {
      const sum = addUp(agents);
      return { spend: sum, series: sum, topAgents: sum, agents };
    }

    const sender = () => ({ baseUrl: deployment().baseUrl, apiKey: workspace.apiKey });
    const replay = async (trace: Trace) => {
      const { code, output } = await startReplay(sender(), trace).ended;
      if (code !== 0) throw new Error(`the replay ended with ${code}: ${output}`);
    };

    beforeEach(async () => {
      directory = await mkdtemp(join(tmpdir(), 'tollkeeper-e2e-trace-'));
      owner = await logIn(deployment(), deployment().owner);
      workspace = await newWorkspace(owner);
    });
    afterEach(() => rm(directory, { recursive: true }));

    it('a replayed trace becomes its rows and their exact price everywhere, and a second replay changes nothing', async () => {
      const trace = await writeTrace(directory, 5_000, 3_600_000, 4);
      await replay(trace);
      await eventually(async () => expect((await readSpend()).unique_settlements).toBe(trace.rows));
      expect(await readTotals()).toEqual(expectedOf(trace));

      await replay(trace);
      // Posted after the second replay: once it is counted, all of that has been read.
      await reportEvents(deployment(), workspace.apiKey, spendSettled({ agentId: 'last', amountMicros: 0 }));
      await eventually(async () => expect((await readSpend()).unique_settlements).toBe(trace.rows + 1));
      const totals = await readTotals();
      expect(totals.spend.total_micros).toBe(trace.totalMicros);
      const last = { total_micros: 0, unique_settlements: 1, input_tokens: 100, output_tokens: 10 };
      expect(totals.agents).toEqual([...trace.agents, { agent_id: 'last', ...last }]);
    });

    it('after kill -9 in the middle of a replay and a restart, the replay ends with the same totals', async () => {
      const trace = await writeTrace(directory, 6_000, 60_000, 3);
      // Paced, so that it is halfway when a third of it has been counted.
      const interrupted = startReplay(sender(), trace, ['--speed', '10']);
      await eventually(async () => expect((await readSpend()).unique_settlements).toBeGreaterThan(2_000));
      await deployment().end('SIGKILL');
      interrupted.stop();
      await interrupted.ended;

      await deployment().start();
      expect((await readSpend()).unique_settlements).toBeLessThan(trace.rows);
      await replay(trace);
      await eventually(async () => expect((await readSpend()).unique_settlements).toBe(trace.rows));
      expect(await readTotals()).toEqual(expectedOf(trace));
    });

    it('every event that was accepted before kill -9 is counted after the restart, though it is not sent again', async () => {
      const accepted: string[] = [];
      const sent: string[] = [];
      const post = async () => {
        const batch = Array.from({ length: 20 }, () => spendSettled({ amountMicros: 3 }));
        const ids = batch.map(({ id }) => id);
        sent.push(...ids);
        const { status } = await postEvents(deployment(), workspace.apiKey, batch);
        if (status === 202) accepted.push(...ids);
      };
      // Killing the process breaks the connections, which ends each of the senders.
      const senders = Array.from({ length: 8 }, async () => {
        for (;;) await post();
      });
      const broken = Promise.allSettled(senders);
      await eventually(() => expect(accepted.length).toBeGreaterThan(1_000));
      await deployment().end('SIGKILL');
      await broken;

      await deployment().start();
      await eventually(async () =>
        expect((await readSpend()).unique_settlements).toBeGreaterThanOrEqual(accepted.length),
      );
      // Requests in flight may have been accepted without an answer, but nothing can have been counted twice.
      const { unique_settlements, total_micros } = await readSpend();
      expect(unique_settlements).toBeLessThanOrEqual(sent.length);
      expect(total_micros).toBe(unique_settlements * 3);
    });
  });
}
