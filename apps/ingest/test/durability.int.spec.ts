import { describe, expect, it } from '@jest/globals';
import type { EventLog } from '@tollkeeper/event-log';
import { AppError } from '@tollkeeper/kernel';
import { eventually, useMongo } from '@tollkeeper/testing';
import { BATCH, spend, useIngest } from './ingest.stack.ts';

describe('an answer of 202', () => {
  const gate = { open: Promise.resolve(), entered: 0 };
  const gatedLog = (log: EventLog): EventLog => ({
    ...log,
    async append(topic, records) {
      gate.entered += 1;
      await gate.open;
      await log.append(topic, records);
    },
  });
  const { keys, logged, post } = useIngest(useMongo(), gatedLog, { BODY_BUDGET_BYTES: '1000' });

  it('is not given before the log has the events, and what waits is bounded', async () => {
    const { apiKey, tenantId } = keys.issue();
    const { promise, resolve: open } = Promise.withResolvers<void>();
    gate.open = promise;
    let answered = false;

    const response = post({ apiKey, body: spend() }).finally(() => (answered = true));
    await eventually(() => expect(gate.entered).toBe(1));
    expect([answered, logged(tenantId)]).toEqual([false, []]);
    // Bodies that wait for the log count towards the memory for bodies.
    const tooMuch = await post({ apiKey, type: BATCH, body: Array.from({ length: 5 }, () => spend()) });
    expect([tooMuch.status, tooMuch.headers['retry-after']]).toEqual([503, '1']);
    open();

    expect((await response).status).toBe(202);
    await eventually(() => expect(logged(tenantId)).toHaveLength(1));
  });

  it('is a 503 with Retry-After when the log cannot take the events', async () => {
    const { apiKey, tenantId } = keys.issue();
    gate.open = Promise.reject(new AppError('service_unavailable', 'The log is full.', { retryAfterSeconds: 7 }));

    const refused = await post({ apiKey, body: spend() });
    gate.open = Promise.resolve();
    const taken = await post({ apiKey, body: spend() });

    expect([refused.status, refused.headers['retry-after'], taken.status]).toEqual([503, '7', 202]);
    await eventually(() => expect(logged(tenantId)).toHaveLength(1));
  });
});
