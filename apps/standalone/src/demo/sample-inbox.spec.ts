import { expect, it } from '@jest/globals';
import { createSampleInbox, SAMPLE_INBOX_URL } from './sample-inbox.ts';

const { signal } = new AbortController();

it('the sample inbox takes each notification, most at the first attempt and the others at the second', async () => {
  const send = createSampleInbox();
  const statuses = new Map<string, number>();
  for (let number = 0; number < 200; number += 1) {
    const headers = { 'webhook-id': `ntf_${number}` };
    const request = { via: 'https', url: SAMPLE_INBOX_URL, headers, body: '{}', credentials: [] } as const;
    const attempts = [await send(request, signal), await send(request, signal)];
    const status = attempts.map((attempt) => (attempt.kind === 'answered' ? attempt.status : attempt.kind)).join();
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  expect([...statuses.keys()].sort()).toEqual(['200,200', '503,200']);
  expect(statuses.get('200,200')).toBeGreaterThan(150);
});
