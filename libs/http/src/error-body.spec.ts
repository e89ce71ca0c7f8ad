import { describe, expect, it } from '@jest/globals';
import { AppError, type ErrorCode } from '@tollkeeper/kernel';
import { errorAnswer, HTTP_STATUS } from './error-body.ts';

const answerTo = (error: unknown) => errorAnswer(error, 'request-1');
const brokenPath = (): unknown => {
  try {
    return decodeURIComponent('%ff');
  } catch (error) {
    return error;
  }
};

describe('the answer to an error', () => {
  it('has a status of an error for every code', () => {
    for (const status of Object.values(HTTP_STATUS)) expect(status).toBeGreaterThanOrEqual(400);
  });

  it('says what an AppError says, and not what was underneath', () => {
    const details = [{ path: 'name', message: 'is required' }];
    const error = new AppError('invalid_request', 'Not so.', { details, cause: new Error('secret') });
    expect(answerTo(error)).toEqual({
      status: 400,
      headers: {},
      body: { error: 'Not so.', code: 'invalid_request', details, request_id: 'request-1' },
    });
    const method = new AppError('method_not_allowed', 'No.', { allow: ['GET', 'HEAD'] });
    expect(answerTo(method)).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } });
  });

  it.each<[ErrorCode, string]>([
    ['rate_limited', '60'],
    ['service_unavailable', '5'],
    ['upstream_timeout', '5'],
  ])('says when to try again, even if the error does not: %s', (code, seconds) => {
    expect(answerTo(new AppError(code, 'Later.')).headers).toEqual({ 'retry-after': seconds });
    expect(answerTo(new AppError(code, 'Later.', { retryAfterSeconds: 0 })).headers).toEqual({ 'retry-after': '0' });
  });

  it.each([
    ['a path that is not UTF-8', brokenPath(), 'The path contains percent-encoding that is not valid UTF-8.'],
    ['what express says', Object.assign(new Error('secret'), { status: 400 }), 'The request cannot be read.'],
  ])('says that the request is at fault: %s', (_what, error, message) => {
    expect(answerTo(error)).toMatchObject({ status: 400, body: { error: message, code: 'invalid_request' } });
  });

  it.each([
    ['an error', new Error('secret')],
    ['an error with another status', Object.assign(new Error('secret'), { status: 404 })],
    ['an object that is no error', { status: 400, message: 'secret' }],
    ['a text', 'secret'],
    ['nothing', null],
  ])('reveals nothing of anything else: %s', (_what, thrown) => {
    expect(answerTo(thrown)).toEqual({
      status: 500,
      headers: {},
      body: {
        error: 'Something went wrong on our side. Quote the request id when asking for help.',
        code: 'internal',
        request_id: 'request-1',
      },
    });
  });
});
