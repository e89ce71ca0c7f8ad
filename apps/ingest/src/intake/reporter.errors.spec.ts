import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { AppError } from '@tollkeeper/kernel';
import { errorOf } from '../../test/otlp.bodies.ts';
import { createReporterErrors } from './reporter.errors.ts';

const otlp = createReporterErrors({ overQuota: 'rate_limited' });
const litellm = createReporterErrors({ overQuota: 'service_unavailable' });
const tooMany = new AppError('rate_limited', 'Too many.', { retryAfterSeconds: 7 });

describe('answers to senders of telemetry', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('come within 4.5 seconds with the check of the key, and the work is aborted then', async () => {
    let aborted: unknown;
    const answer = errorOf(
      otlp.answer(
        2_000,
        (signal) => new Promise(() => signal.addEventListener('abort', () => (aborted = signal.reason))),
      ),
    );
    jest.advanceTimersByTime(2_499);
    expect(aborted).toBeUndefined();
    jest.advanceTimersByTime(1);
    const error = await answer;
    expect(error).toMatchObject({ code: 'service_unavailable', retryAfterSeconds: 2 });
    expect(aborted).toBe(error);
  });

  it('are those of the work in time, and nothing is aborted later', async () => {
    let asked: AbortSignal | undefined;
    const work = async (signal: AbortSignal) => {
      asked = signal;
      return 5;
    };
    expect(await otlp.answer(0, work)).toBe(5);
    jest.advanceTimersByTime(10_000);
    expect(asked?.aborted).toBe(false);
  });

  it.each([new Error('unexpected'), new AppError('internal', 'unexpected')])(
    'are 503 after an unexpected error, without its text: %s',
    async (error) => {
      const expected = { code: 'service_unavailable', message: expect.not.stringContaining('unexpected') };
      expect(await errorOf(otlp.answer(0, () => Promise.reject(error)))).toMatchObject(expected);
      const access = otlp.access({
        scheme: 'workspaceKey',
        authenticate: () => Promise.reject(error),
        senderOf: () => '',
      });
      const request = { headers: {}, requestId: 'req_1', clientAddress: '' };
      expect(await errorOf(access.authenticate(request))).toMatchObject(expected);
    },
  );

  it('over a quota are 429 for OTLP and 503 for LiteLLM, with the same time to wait', () => {
    const refuse = (): never => {
      throw tooMany;
    };
    expect(() => otlp.answerNow(refuse)).toThrow(tooMany);
    expect(() => litellm.answerNow(refuse)).toThrow(
      expect.objectContaining({ code: 'service_unavailable', retryAfterSeconds: 7, message: 'Too many.' }),
    );
  });
});
