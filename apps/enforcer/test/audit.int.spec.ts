import { expect, it } from '@jest/globals';
import { useMongo } from '@tollkeeper/testing';
import { LIMITS, useEnforcer } from './enforcer.stack.ts';

const enforcer = useEnforcer(useMongo(), { replicas: 2 });

it('records in the audit log a hold that an owner released, once, and none that a gateway did', async () => {
  const workspace = enforcer.newWorkspace();
  const [byGateway, byOwner, raced, last] = [
    await workspace.granted(5),
    await workspace.granted(7),
    await workspace.granted(9),
    await workspace.granted(11),
  ];
  const release = (id: string, replica = 0) =>
    workspace.call('post', `${LIMITS}/reservations/${id}:release`, { role: 'owner', replica });
  await workspace.release(byGateway.id);
  await release(byGateway.id);
  for (let again = 0; again < 2; again += 1) await release(byOwner.id);
  await release('rsv_unknown');
  await Promise.all([release(raced.id), release(raced.id, 1)]);
  await release(last.id);

  const records = await workspace.audited(3);
  expect(records.map(({ action, actor, target, changes }) => [action, actor.id, target, changes])).toEqual(
    [byOwner, raced, last].map(({ id }) => [
      'reservation.release',
      'user_1',
      { type: 'reservation', id, name: 'planner' },
      [{ field: 'state', from: 'held', to: 'released' }],
    ]),
  );
});
