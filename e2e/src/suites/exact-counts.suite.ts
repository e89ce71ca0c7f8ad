import { beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import { logIn } from '../api.client.ts';
import { postUntilAccepted, type Refusal } from '../resend.ts';
import { cloudEventSenders } from '../senders/cloud-event.senders.ts';
import { recordedSenders } from '../senders/recorded.senders.ts';
import { repeatedOrders } from '../senders/repeated.orders.ts';
import { newSenderWorkspace, type SenderWorkspace } from '../senders/sender.workspace.ts';
import type { Sender } from '../senders/sender.ts';
import type { TargetOf } from '../target.ts';

/** Calls of all senders together. 430,000 are a million records, which take half an hour on two cores. */
const CALLS = Number(process.env['CALLS'] ?? 10_000);
/** Senders with one call a request have a tenth of the others' calls. */
const PART_OF_SINGLE = 1 / 10;
/** Senders that report at the same time, each in three orders. */
const AT_ONCE = 5;
/** Far more than an overloaded Tollkeeper gives. */
const MAX_REFUSALS = 100_000;
/** Longer than a million calls take on two cores. */
const REPORTING_MS = 7_200_000;

/** Every call is reported at least twice: concurrently, in other orders, and in other batches. */
export function describeExactCounts(target: TargetOf): void {
  describe(`${CALLS} calls of twenty senders, repeated and reordered`, () => {
    const senders = [...recordedSenders(), ...cloudEventSenders()];
    const counts = countsOf(senders);
    const workspaces: SenderWorkspace[] = [];
    const refusals = new Map<Refusal, number>();

    function refused(refusal: Refusal): void {
      const times = (refusals.get(refusal) ?? 0) + 1;
      refusals.set(refusal, times);
      if (times > MAX_REFUSALS) throw new Error(`reports are refused: ${refusal}`);
    }

    async function report(workspace: SenderWorkspace, order: Iterable<number[]>): Promise<void> {
      for (const batch of order) await postUntilAccepted(() => workspace.post(batch), refused);
    }

    beforeAll(async () => {
      const owner = await logIn(target(), target().owner);
      for (const sender of senders) {
        workspaces.push(await newSenderWorkspace({ target: target(), owner, sender }, sender.name));
      }
      expect(workspaces).toHaveLength(20);
      const start = performance.now();
      const waiting = [...workspaces.entries()];
      const reportNext = async (): Promise<void> => {
        for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
          const [index, workspace] = next;
          const { name, maxBatch } = senders[index]!;
          const orders = repeatedOrders(name, counts[index]!, maxBatch);
          await Promise.all(orders.map((order) => report(workspace, order)));
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, reportNext));
      const seconds = ((performance.now() - start) / 1_000).toFixed(1);
      process.stdout.write(`${CALLS} calls accepted in ${seconds} s; refusals: ${JSON.stringify([...refusals])}\n`);
    }, REPORTING_MS);

    it.each(senders.map(({ name }, index) => [name, index] as const))(
      'of %s are counted exactly, with their tokens, models, agents and hours, and to the micro',
      async (_name, index) => {
        const workspace = workspaces[index]!;
        const figures = workspace.figuresOf(Array(counts[index]!).keys());
        await eventually(() => workspace.expectExactly(figures));
      },
    );
  });
}

/** How many calls each sender reports, `CALLS` together. */
function countsOf(senders: readonly Sender[]): number[] {
  const shares = senders.map(({ maxBatch }) => (maxBatch === 1 ? PART_OF_SINGLE : 1));
  const all = shares.reduce((sum, share) => sum + share, 0);
  const counts = shares.map((share) => Math.floor((CALLS * share) / all));
  counts[0]! += CALLS - counts.reduce((sum, count) => sum + count, 0);
  return counts;
}
