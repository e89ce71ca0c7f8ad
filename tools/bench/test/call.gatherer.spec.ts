import { describe, expect, it } from '@jest/globals';
import { createCallGatherer } from '../src/deciders/call.gatherer.ts';

/** The sent batches, each of which waits for its answers. */
function gatherer() {
  const sent: { requests: number[]; answer(refused?: Record<number, string>): void; fail(error: Error): void }[] = [];
  const ask = createCallGatherer<number, { id: number; error: { code: string; message: string } | null }>(
    (requests) =>
      new Promise((resolve, reject) => {
        sent.push({
          requests,
          answer: (refused = {}) =>
            resolve(
              requests.map((id) => {
                const code = refused[id];
                return { id, error: code === undefined ? null : { code, message: `${id} is ${code}` } };
              }),
            ),
          fail: reject,
        });
      }),
  );
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const ids = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);
  return { ask, sent, turn, ids };
}

describe('calls that are gathered', () => {
  it('go at once while nothing is out, together if they come together, and at most 50', async () => {
    const { ask, sent, turn, ids } = gatherer();
    const asked = ids(0, 60).map(ask);
    await turn();
    await turn();
    expect(sent.map(({ requests }) => requests)).toEqual([ids(0, 50), ids(50, 60)]);
    for (const { answer } of sent) answer();
    expect((await Promise.all(asked)).map(({ id }) => id)).toEqual(ids(0, 60));
  });

  it('wait while two batches are out, and go together when one is answered', async () => {
    const { ask, sent, turn } = gatherer();
    const asked = [];
    for (const id of [0, 1, 2, 3]) {
      asked.push(ask(id));
      await turn();
    }
    expect(sent.map(({ requests }) => requests)).toEqual([[0], [1]]);
    sent[0]!.answer();
    await asked[0];
    await turn();
    expect(sent[2]?.requests).toEqual([2, 3]);
    sent[1]!.answer();
    sent[2]!.answer();
    await Promise.all(asked);
  });

  it('are refused alone, ask again what could not be decided, and fail together with their batch', async () => {
    const { ask, sent, turn } = gatherer();
    const asked = [ask(0), ask(1), ask(2)];
    await turn();
    sent[0]!.answer({ 1: 'conflict', 2: 'service_unavailable' });
    expect(await asked[0]).toMatchObject({ id: 0 });
    await expect(asked[1]).rejects.toThrow('1 is conflict');
    await turn();
    expect(sent[1]?.requests).toEqual([2]);
    const other = ask(3);
    sent[1]!.fail(new Error('no key'));
    await expect(asked[2]).rejects.toThrow('no key');
    await turn();
    sent[2]!.answer();
    expect(await other).toMatchObject({ id: 3 });
  });
});
