import { expect, it } from '@jest/globals';
import { provenTenantId } from '@tollkeeper/kernel';
import { createWorkspaceAppends, type ReportedEvent } from './workspace.appends.ts';

const workspace = (name: string) => provenTenantId(`ws_${name}`);

function event(text = ''): ReportedEvent {
  const data = { settlement_id: 's', run_id: 'r', agent_id: 'a', amount_micros: 1, labels: { text } };
  const time = '2026-11-21T18:00:00.000Z';
  return { event: { specversion: '1.0', id: 'e', source: 's', type: 'spend.settled', time, data } };
}

it('workspaces with very many events leave room for those of others', async () => {
  const log = Promise.withResolvers<void>();
  const appends = createWorkspaceAppends(() => log.promise, { ofWorkspace: 10, ofAll: 20 });
  const refused = { a: 0, b: 0, c: 0, d: 0, e: 0 };
  const add = (name: keyof typeof refused, events: number) => {
    for (let nth = 0; nth < events; nth += 1) {
      appends.append(workspace(name), event()).catch(() => (refused[name] += 1));
    }
  };
  add('a', 20);
  add('b', 20);
  for (const name of ['c', 'd', 'e'] as const) add(name, 2);
  log.resolve();
  await appends.drained();
  expect(refused).toEqual({ a: 10, b: 18, c: 0, d: 0, e: 0 });
});

it('an append has about a megabyte at most, however many long events wait', async () => {
  const lengths: number[] = [];
  const append = async (_: unknown, events: readonly ReportedEvent[]) => {
    lengths.push(JSON.stringify(events).length);
  };
  const appends = createWorkspaceAppends(append, { ofWorkspace: 1_000, ofAll: 2_000 });
  await Promise.all(Array.from({ length: 500 }, () => appends.append(workspace('a'), event('x'.repeat(13_000)))));
  expect(Math.max(...lengths)).toBeLessThan(1_050_000);
  expect(lengths.reduce((sum, length) => sum + length)).toBeGreaterThan(500 * 13_000);
});
