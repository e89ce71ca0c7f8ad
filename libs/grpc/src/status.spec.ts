import { describe, expect, it } from '@jest/globals';
import { Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { AppError, type ErrorCode } from '@tollkeeper/kernel';
import { fromStatus, GRPC_STATUS, toStatus } from './status.ts';

function received(failure: Partial<ServiceError>): ServiceError {
  return Object.assign(new Error(failure.details), {
    code: status.UNKNOWN,
    details: '',
    metadata: new Metadata(),
    ...failure,
  });
}

describe('error mapping', () => {
  it.each(Object.keys(GRPC_STATUS) as ErrorCode[])('brings %s over the wire with message and details', (code) => {
    const sent = new AppError(code, 'A sentence.', {
      details: [{ path: 'agent_ids[3]', message: 'is too long' }],
      retryAfterSeconds: 7,
    });
    const failure = toStatus(sent, 'req_1');
    expect(failure.code).toBe(GRPC_STATUS[code]);
    const back = fromStatus(received(failure), 'identity');
    expect(back).toBeInstanceOf(AppError);
    expect(back).toMatchObject({ code, message: 'A sentence.', details: sent.details, retryAfterSeconds: 7 });
  });

  it('never maps an error to a status that says that all went well', () => {
    expect(Object.values(GRPC_STATUS)).not.toContain(status.OK);
  });

  it('reveals nothing of an unexpected error', () => {
    const failure = toStatus(new Error('E11000 duplicate key: secret'), 'req_1');
    expect(failure).toMatchObject({ code: status.INTERNAL });
    expect(failure.metadata?.get('x-request-id')).toEqual(['req_1']);
    expect(JSON.stringify(failure)).not.toContain('secret');
  });

  it.each([
    [status.UNAVAILABLE, 'service_unavailable'],
    [status.DEADLINE_EXCEEDED, 'upstream_timeout'],
    [status.INTERNAL, 'internal'],
    [status.UNIMPLEMENTED, 'internal'],
    [status.INVALID_ARGUMENT, 'internal'],
  ])('takes status %i of the transport itself for %s', (code, expected) => {
    expect(fromStatus(received({ code, details: 'ECONNREFUSED 10.0.0.1' }), 'identity')).toMatchObject({
      code: expected,
      message: expect.not.stringContaining('10.0.0.1'),
    });
  });

  it('does not trust an error code that it does not know', () => {
    const metadata = new Metadata();
    metadata.set('tollkeeper-error-bin', Buffer.from('{"code":"toString"}'));
    expect(fromStatus(received({ code: status.UNAVAILABLE, metadata }), 'identity').code).toBe('service_unavailable');
  });
});
