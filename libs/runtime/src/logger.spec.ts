import { describe, expect, it } from '@jest/globals';
import { AppError } from '@tollkeeper/kernel';
import type { Logger as PinoLogger } from 'pino';
import { createLogger } from './logger.ts';

function capture() {
  const lines: string[] = [];
  const logger = createLogger({
    service: 'test',
    level: 'debug',
    destination: { write: (line) => void lines.push(line) },
  });
  // Secrets are redacted by name even under names that the types do not allow.
  const untyped = logger as unknown as PinoLogger;
  return { logger, untyped, lines, last: () => JSON.parse(lines.at(-1) ?? '{}') as Record<string, unknown> };
}

describe('createLogger', () => {
  it('writes JSON lines with service, level, time and message', () => {
    const { logger, last } = capture();
    logger.info({ request_id: 'req_1' }, 'hello');
    expect(last()).toMatchObject({ service: 'test', level: 'info', request_id: 'req_1', msg: 'hello' });
    expect(last()['time']).toMatch(/^\d{4}-\d{2}-\d{2}T.*Z$/);
  });

  it('redacts secret fields at any depth and in any case', () => {
    const { untyped, lines } = capture();
    untyped.info({
      password: 's3cr3t-1',
      headers: { Cookie: 's3cr3t-2', AUTHORIZATION: 's3cr3t-3', 'x-tollkeeper-caller': 's3cr3t-4' },
      list: [{ deep: { api_key: 's3cr3t-5', signing_secret: 's3cr3t-6', 'set-cookie': ['s3cr3t-7'] } }],
    });
    expect(lines.join('')).not.toContain('s3cr3t');
    expect(lines.join('').match(/\[redacted\]/g)).toHaveLength(7);
  });

  it('cuts workspace keys, session cookies and one-time tokens out of messages and stacks', () => {
    const { untyped, lines } = capture();
    untyped.warn('key ws_live_abcDEF123.S3cr3tS3cr3t was sent as gw_session=S3cr3t-_x; Path=/');
    untyped.error({ err: new Error('bad key ws_live_abcDEF123.S3cr3tS3cr3t') });
    untyped.info({ path: '/api/v1/invitations/tk_invite_S3cr3t-_x:accept' }, 'tk_reset_S3cr3t');
    expect(lines.join('')).not.toContain('S3cr3t');
    expect(lines[0]).toContain('ws_live_abcDEF123.[redacted]');
    expect(lines[2]).toContain('/api/v1/invitations/tk_invite_[redacted]:accept');
  });

  it('redacts what a child logger is bound to', () => {
    const { untyped, lines } = capture();
    untyped.child({ note: 'ws_live_abcDEF123.S3cr3t' }).info('x');
    expect(lines.join('')).not.toContain('S3cr3t');
  });

  it.each(['service_unavailable', 'upstream_timeout'] as const)('writes an outage (%s) without stacks', (code) => {
    const { untyped, last } = capture();
    const cause = Object.assign(new Error('no answer within 200 ms'), { code: 4 });
    untyped.warn({
      err: new AppError(code, 'Identity is away.', { cause: new AppError('internal', 'It.', { cause }) }),
    });
    expect(last()['err']).toEqual({
      ...{ type: 'AppError', message: 'Identity is away.', code },
      cause: {
        ...{ type: 'AppError', message: 'It.', code: 'internal' },
        cause: { type: 'Error', message: 'no answer within 200 ms', code: 4 },
      },
    });
    untyped.warn({ err: new AppError('internal', 'A bug.') });
    expect(last()['err']).toMatchObject({ stack: expect.stringContaining('logger.spec') });
  });

  it('writes an error with its causes and code, and no other property that a driver hung on it', () => {
    const { untyped, last } = capture();
    const cause = Object.assign(new Error('refused'), { code: 'ECONNREFUSED', query: { email: 'a@b' } });
    untyped.error({ err: new Error('cannot save', { cause }) });
    expect(last()['err']).toMatchObject({
      type: 'Error',
      message: 'cannot save',
      cause: { message: 'refused', code: 'ECONNREFUSED' },
    });
    expect(JSON.stringify(last())).not.toContain('a@b');
  });

  it('writes the path of a request without its query and headers', () => {
    const { untyped, last } = capture();
    untyped.info({ req: { method: 'GET', url: '/api/v1/x?token=abc', headers: { cookie: 'a' } } });
    expect(last()['req']).toEqual({ method: 'GET', path: '/api/v1/x' });
  });

  it('takes only names that it knows, of fields and of those that a child has: another one is an error of types', () => {
    const { logger, lines } = capture();
    logger.info({ tenant_id: 'ws_1', topic: 'events', partition: 1, offset: 7 }, 'known');
    logger.child({ request_id: 'req_1' }).info('known');
    // @ts-expect-error the name is tenant_id
    logger.info({ tenantId: 'ws_1' }, 'unknown');
    const fields = { tenant_id: 'ws_1', tenant: 'ws_1' };
    // @ts-expect-error a variable with a name too many
    logger.info(fields, 'unknown');
    // @ts-expect-error a child with an unknown name
    logger.child({ tenant: 'ws_1' }).info('unknown');
    expect(lines).toHaveLength(5);
  });
});
