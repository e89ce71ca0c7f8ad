import { expect, it } from '@jest/globals';
import { runFaults } from './fault.run.ts';

// Like `npm run faults:enforcer`, with fewer calls.
it('every limit holds to the micro while a replica and the primary of MongoDB are killed under calls', async () => {
  const report = await runFaults({ calls: 1000, kills: { replica: 1, primary: 1 }, seed: 1, log: 'mongo' });
  expect(report.problems).toEqual([]);
  expect(report.kills).toHaveLength(2);
  const kinds = ['granted', 'denied', 'settled', 'settled late', 'released', 'extended', 'events', 'repeated'];
  for (const kind of [...kinds, 'decided while a budget filled']) {
    expect(report.answers.get(kind)).toBeGreaterThan(0);
  }
  const budgets = [...report.answers.keys()].filter((kind) => kind.startsWith('denied by '));
  expect(budgets.length).toBeGreaterThan(3);
});
