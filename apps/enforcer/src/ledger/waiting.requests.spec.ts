import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { provenTenantId } from '@tollkeeper/kernel';
import { createDraft, createLedger } from '../domain/ledger.state.ts';
import { decideAll, type Waiting } from './waiting.requests.ts';

const at = { tenantId: provenTenantId('ws_1'), now: 0, seq: 1, isNewest: true, known: new Map() };

it('a long read is decided in its place, and what it fails with is its answer alone', async () => {
  const done: string[] = [];
  const waiting = (name: string, ask: Waiting['ask']): Waiting => ({
    ...{ ask, since: 0 },
    resolve: (answer) => void done.push(`${name}: ${String(answer)}`),
    reject: (error) => void done.push(`${name} failed: ${String(error)}`),
  });
  const order: string[] = [];
  const decided = await decideAll(
    [
      waiting('long', {
        async decide() {
          await nextTurn();
          order.push('long');
          return { ops: [], answer: 1 };
        },
      }),
      waiting('broken', {
        async decide() {
          await nextTurn();
          throw new Error('no period');
        },
      }),
      waiting('short', {
        decide() {
          order.push('short');
          return { ops: [], answer: 2 };
        },
      }),
    ],
    createDraft(createLedger()),
    [],
    at,
  );
  if (!('settle' in decided)) throw new Error('It was not decided');
  for (const settle of decided.settle) settle();
  expect(order).toEqual(['long', 'short']);
  expect(done).toEqual(['long: 1', 'broken failed: Error: no period', 'short: 2']);
});
