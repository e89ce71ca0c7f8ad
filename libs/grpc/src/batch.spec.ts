import { status } from '@grpc/grpc-js';
import { describe, expect, it } from '@jest/globals';
import { AppError } from '@tollkeeper/kernel';
import { z } from 'zod';
import { createAnswerEach, requestsIn } from './batch.ts';

const schema = z.object({ tenantId: z.string().max(3) });

function batches() {
  const explained: unknown[] = [];
  const answered: string[] = [];
  const answerEach = createAnswerEach({
    explain(thrown) {
      explained.push(thrown);
      return thrown instanceof RangeError ? new AppError('conflict', 'Out of range.') : thrown;
    },
    onAnswer: (code) => answered.push(status[code]),
  });
  return { answerEach, explained, answered };
}

describe('the answers to a batch', () => {
  it('are in the order of the requests, whichever is answered first', async () => {
    const { answerEach } = batches();
    let begin = (): void => {};
    const last = new Promise<void>((resolve) => (begin = resolve));
    const requests = ['a', 'b'].map((tenantId) => ({ tenantId }));
    const answers = await answerEach(requests, schema, async ({ tenantId }) => {
      if (tenantId === 'a') await last;
      else begin();
      return { id: tenantId };
    });
    expect(answers).toEqual([{ id: 'a' }, { id: 'b' }]);
  });

  it('have the refusal of a request in its place alone, and each is counted', async () => {
    const { answerEach, explained, answered } = batches();
    const bug = new Error('connection string of the database');
    const thrown: Record<string, Error> = {
      b: bug,
      c: new AppError('rate_limited', 'Later.', { retryAfterSeconds: 3 }),
      d: new RangeError('9 is too much'),
    };
    const requests = ['a', 'b', 'c', 'd', 'long'].map((tenantId) => ({ tenantId }));
    const answers = await answerEach(requests, schema, async ({ tenantId }) => {
      if (thrown[tenantId] !== undefined) throw thrown[tenantId];
      return { id: tenantId };
    });
    expect(answers).toEqual([
      { id: 'a' },
      { error: { code: 'internal', message: 'Something went wrong in the service.', details: [] } },
      { error: { code: 'rate_limited', message: 'Later.', details: [], retryAfterSeconds: 3 } },
      { error: { code: 'conflict', message: 'Out of range.', details: [] } },
      {
        error: {
          code: 'invalid_request',
          message: expect.any(String),
          details: [{ path: 'tenant_id', message: 'must be at most 3 characters' }],
        },
      },
    ]);
    expect(explained).toContain(bug);
    expect(answered.toSorted()).toEqual(['ALREADY_EXISTS', 'INTERNAL', 'INVALID_ARGUMENT', 'OK', 'RESOURCE_EXHAUSTED']);
  });
});

it('a batch counts as many requests as it has, at least one, and not more than it may have; all else is one', () => {
  const counts = [0, 1, 50, 5_000].map((length) => requestsIn({ requests: Array(length).fill({}) }));
  expect(counts).toEqual([1, 1, 50, 50]);
  expect([requestsIn({}), requestsIn({ requests: 'ten' })]).toEqual([1, 1]);
});
