import { expect, it } from '@jest/globals';
import { AppError } from '@tollkeeper/kernel';
import { newTenant, NOW } from '../../test/notification.builder.ts';
import { createTestSender } from './test.sender.ts';

it('a test is not sent to a channel that is deleted while its link is looked up', async () => {
  let isDeleted = false;
  const sendTest = createTestSender({
    async linkAlert() {
      isDeleted = true;
      return { url: 'https://tollkeeper.example.com/1', page: 'https://tollkeeper.example.com/2' };
    },
    send: () => Promise.reject(new Error('It was sent.')),
    clock: () => NOW,
  });
  const tenantId = newTenant();
  const at = new Date(NOW);
  const read = async () => {
    if (isDeleted) throw new AppError('not_found', 'It is deleted.');
    const config = { url: 'https://hooks.example.com/in' };
    const destination = { type: 'webhook' as const, config };
    const made = { createdAt: at, updatedAt: at, revision: 1 };
    return { id: 'chan_1', tenantId, name: null, enabled: true, destination, ...made };
  };
  await expect(sendTest(tenantId, read)).rejects.toMatchObject({ code: 'not_found' });
});
