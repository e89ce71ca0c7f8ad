import { describe, expect, it } from '@jest/globals';
import { enforcerRequests } from './service-requests.ts';
import { enforcerService } from './services.ts';

/** The request that a server receives when a client sends this one. */
function received<Sent>(
  rpc: { requestSerialize: (request: Sent) => Buffer; requestDeserialize: (bytes: Buffer) => unknown },
  request: Sent,
) {
  return rpc.requestDeserialize(rpc.requestSerialize(request));
}

describe('requests of the enforcer', () => {
  const { Reserve, Settle } = enforcerService;
  const reserve = { requestId: 'r', agentId: 'a', runId: 'n', amountMicros: 5 };
  const settle = { reservationId: 'rsv_1', settlementId: 's', amountMicros: 5 };

  it('distinguish what was left out from what is zero, and hold for 10 minutes unless they say otherwise', () => {
    expect(enforcerRequests.reserve.parse(received(Reserve, reserve))).toEqual({
      ...reserve,
      ttlSeconds: 600,
      dryRun: false,
      labels: {},
    });
    expect(enforcerRequests.settle.parse(received(Settle, settle))).toEqual(settle);
    const free = { ...settle, amountMicros: 0, inputTokens: 0, outputTokens: 0 };
    expect(enforcerRequests.settle.parse(received(Settle, free))).toEqual(free);
  });

  it('are refused without an amount, so that no call is free by mistake', () => {
    for (const { error } of [
      enforcerRequests.reserve.safeParse(received(Reserve, { ...reserve, amountMicros: undefined })),
      enforcerRequests.settle.safeParse(received(Settle, { ...settle, amountMicros: undefined })),
    ]) {
      expect(error?.issues).toMatchObject([{ path: ['amountMicros'], message: 'must be given' }]);
    }
  });

  it.each(['0', '1', String(Number.MAX_SAFE_INTEGER)])('carry the amount %s as it is', (amountMicros) => {
    const read = enforcerRequests.reserve.parse(received(Reserve, { ...reserve, amountMicros }));
    expect(String(read.amountMicros)).toBe(amountMicros);
  });

  it.each(['-1', '9007199254740992', '9007199254740993', '9223372036854775807'])(
    'are refused with the amount %s',
    (amountMicros) => {
      const { error } = enforcerRequests.reserve.safeParse(received(Reserve, { ...reserve, amountMicros }));
      expect(error?.issues.map(({ path }) => path)).toEqual([['amountMicros']]);
    },
  );

  it('come in batches of 1 to 50, whose requests are checked one by one', () => {
    const { ReserveMany } = enforcerService;
    const problems = (count: number) => {
      const requests = Array(count).fill({ ...reserve, requestId: '' });
      const { error } = enforcerRequests.reserveMany.safeParse(received(ReserveMany, { requests }));
      return error?.issues.map(({ path, message }) => `${path.join('.')} ${message}`);
    };
    expect([problems(1), problems(50)]).toEqual([undefined, undefined]);
    expect([problems(0), problems(51)]).toEqual([
      ['requests must not be empty'],
      ['requests must have at most 50 requests'],
    ]);
  });

  it.each([
    { ttlSeconds: 9 },
    { ttlSeconds: 3601 },
    { ttlSeconds: 0 },
    { planKey: '' },
    { planKey: 'Not A Key' },
    { requestId: '' },
    { agentId: 'a b' },
  ])('are refused with %j', (wrong) => {
    const { error } = enforcerRequests.reserve.safeParse(received(Reserve, { ...reserve, ...wrong }));
    expect(error?.issues.map(({ path }) => path)).toEqual([Object.keys(wrong)]);
  });
});
