import { newId } from '@tollkeeper/kernel';
import type { TestMongo } from '@tollkeeper/testing';
import { type Body, type CallOptions, LIMITS, useEnforcer } from './enforcer.stack.ts';

export const LEASES = '/api/v1/leases';
export const LEASES_OF_PEOPLE = `${LIMITS}/leases`;
export const HOUR_MS = 3_600_000;
/** A changed budget, a pause and a raise count after this time. */
export const COUNTS_MS = 2_000;

export const denialOf = ({ body }: { body: Body }) => body['denial'] as Body;

/** The cost of a call; the settlement id is a new one unless it is given. */
export function cost(amountMicros: number, settlementId: string = newId('stl')): Body {
  return { settlement_id: settlementId, run_id: 'run-1', amount_micros: amountMicros };
}

/** The enforcer, with workspaces whose gateways use leases. */
export function useLeases(mongo: TestMongo, options?: Parameters<typeof useEnforcer>[1]) {
  const stack = useEnforcer(mongo, options);

  /** A workspace with a daily budget, if one is given. */
  function newWorkspace(limitMicros?: number, pinned = {}) {
    const workspace = limitMicros === undefined ? stack.newWorkspace(pinned) : stack.limitedTo(limitMicros, pinned);
    const { call } = workspace;
    const requestOf = (asked: Body): Body => ({
      ...{ request_id: newId('req'), agent_id: 'planner', min_micros: 1, ...asked },
    });
    const act = (id: string, action: string, options?: CallOptions) =>
      call('post', `${LEASES}/${id}:${action}`, options);
    const lease = (asked: Body, options: CallOptions = {}) =>
      call('post', LEASES, { body: requestOf(asked), ...options });

    return {
      ...workspace,
      /** The decision on a call of a micro, or of what is given. */
      decision: async (asked: Body = {}, replica = 0) =>
        (await workspace.reserve({ amount_micros: 1, ...asked }, { replica })).body['decision'],
      lease,
      /** A lease that must be granted. */
      async leased(amountMicros: number, asked: Body = {}, options: CallOptions = {}): Promise<Body & { id: string }> {
        const { status, body } = await lease({ amount_micros: amountMicros, ...asked }, options);
        if (status !== 201) throw new Error(`expected a lease, got ${status} ${JSON.stringify(body)}`);
        return body['lease'] as Body & { id: string };
      },
      readLease: async (id: string, options?: CallOptions) => (await call('get', `${LEASES}/${id}`, options)).body,
      settleFrom: (id: string, settlements: Body[], options: CallOptions = {}) =>
        act(id, 'settle', { body: { settlements }, ...options }),
      renew: (id: string, amountMicros: number, asked: Body = {}, options: CallOptions = {}) =>
        act(id, 'renew', { body: { request_id: newId('req'), amount_micros: amountMicros, ...asked }, ...options }),
      giveBack: (id: string, options?: CallOptions) => act(id, 'return', options),
    };
  }

  return { ...stack, newWorkspace };
}
