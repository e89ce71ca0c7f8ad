import { beforeEach, describe, expect, it } from '@jest/globals';
import { provenTenantId } from '@tollkeeper/kernel';
import { createQuestions, type Questions } from './questions.ts';

const ONE = provenTenantId('ws_1');
const OTHER = provenTenantId('ws_2');

let sent: { tenantId: string; ids: readonly string[]; answer: PromiseWithResolvers<void> }[];
let questions: Questions;
let now: number;

beforeEach(() => {
  sent = [];
  now = 0;
  questions = createQuestions(
    (tenantId, ids) => {
      const answer = Promise.withResolvers<void>();
      sent.push({ tenantId, ids, answer });
      return answer.promise;
    },
    () => now,
  );
});

const turn = () => new Promise((resolve) => setImmediate(resolve));
const idsOf = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}${index}`);

describe('questions', () => {
  it('are asked one at a time in a workspace, and those who ask meanwhile share the next one', async () => {
    const asked = [['a'], ['b'], ['c', 'a']].map((ids) => questions.ask(ONE, ids).answered);
    const elsewhere = questions.ask(OTHER, ['a']).answered;
    await turn();
    expect(sent.map(({ tenantId, ids }) => [tenantId, ...ids])).toEqual([
      [ONE, 'a', 'b', 'c'],
      [OTHER, 'a'],
    ]);
    const later = [questions.ask(ONE, ['b']).answered, questions.ask(ONE, ['d']).answered];
    await turn();
    expect(sent).toHaveLength(2);
    for (const { answer } of sent) answer.resolve();
    await Promise.all([...asked, elsewhere, later[0]]);
    await turn();
    expect(sent.slice(2).map(({ ids }) => ids)).toEqual([['d']]);
    sent[2]!.answer.resolve();
    await later[1];
  });

  it('have a bounded number of ids, so that one caller does not wait for the ids of all', async () => {
    const first = questions.ask(ONE, ['first']).answered;
    await turn();
    const many = ['a', 'b', 'c'].map((prefix) => questions.ask(ONE, idsOf(prefix, 1_900)).answered);
    const last = questions.ask(ONE, ['last']).answered;
    for (let index = 0; index < 4; index += 1) {
      sent[index]?.answer.resolve();
      await turn();
    }
    await Promise.all([first, ...many, last]);
    expect(sent.map(({ ids }) => ids.length)).toEqual([1, 3_800, 1_901]);
  });

  it('that wait behind one that fails are not sent but fail too, and none is asked for a second', async () => {
    const first = questions.ask(ONE, ['a']).answered;
    await turn();
    const waiting = questions.ask(ONE, ['b']).answered;
    sent[0]!.answer.reject(new Error('down'));
    await expect(first).rejects.toThrow('down');
    await expect(waiting).rejects.toThrow('down');
    now = 999;
    expect(questions.ask(ONE, ['c']).hasFailed).toBe(true);
    await expect(questions.ask(ONE, ['c']).answered).rejects.toThrow('down');
    expect(sent).toHaveLength(1);
    now = 1_000;
    const again = questions.ask(ONE, ['c']).answered;
    await turn();
    sent[1]!.answer.resolve();
    await again;
    expect(questions.ask(ONE, ['d']).hasFailed).toBe(false);
  });
});
