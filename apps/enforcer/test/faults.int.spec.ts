import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { runLeaseFaults } from './fault.leases.run.ts';
import { runFaults } from './fault.run.ts';
import { type Stage, startStage } from './fault.stage.ts';

// Like `npm run faults:enforcer`, with and without `--leases`, with fewer calls.
let stage: Stage;
beforeAll(async () => {
  stage = await startStage('mongo');
});
afterAll(() => stage.stop());

it('every limit holds to the micro while a replica and the primary of MongoDB are killed under calls', async () => {
  const report = await runFaults(stage, { calls: 1000, kills: { replica: 1, primary: 1 }, seed: 1 });
  expect(report.problems).toEqual([]);
  expect(report.kills).toHaveLength(2);
  const kinds = ['granted', 'denied', 'settled', 'settled late', 'released', 'extended', 'events', 'repeated'];
  for (const kind of [...kinds, 'decided while a budget filled']) {
    expect(report.answers.get(kind)).toBeGreaterThan(0);
  }
  const budgets = [...report.answers.keys()].filter((kind) => kind.startsWith('denied by '));
  expect(budgets.length).toBeGreaterThan(3);
});

it('every limit holds to the micro while gateways with leases, a replica and the primary are killed', async () => {
  const kills = { gateway: 2, replica: 1, primary: 1 };
  const report = await runLeaseFaults(stage, {
    ...{ calls: 2000, gateways: 4, ttlSeconds: 10, raises: 4, seed: 1, kills },
  });
  expect(report.problems).toEqual([]);
  expect(report.kills).toHaveLength(4);
  const granted = ['granted call by call', 'granted from a lease', 'grants checked', 'lease grants checked'];
  for (const kind of [...granted, 'denied', 'released', 'settled durably', 'settlements settled', 'events']) {
    expect(report.answers.get(kind)).toBeGreaterThan(0);
  }
});
