import type { GrantLeaseResponse, Lease, RenewLeaseResponse, SettledLease, SettleLeaseData } from './gen/types.gen.ts';
import { type Send, withField } from './http.transport.ts';
import type { LeaseFacts } from './lease.account.ts';
import { TollkeeperError } from './tollkeeper.error.ts';

/** A settlement of a lease, as it is sent. */
export type LeaseSettlement = SettleLeaseData['body']['settlements'][number];

interface LeaseWish {
  runId: string;
  amountMicros: number;
  minMicros: number;
}

/** The calls for leases. Each may be repeated, and rejects with {@link TollkeeperError}. */
export interface LeaseApi {
  grant(facts: LeaseFacts, wish: LeaseWish): Promise<GrantLeaseResponse>;
  /** Null if the lease has ended. */
  renew(leaseId: string, amountMicros: number): Promise<Lease | null>;
  settle(leaseId: string, settlements: readonly LeaseSettlement[], signal: AbortSignal): Promise<SettledLease>;
  return(leaseId: string): Promise<void>;
}

const LEASES = '/api/v1/leases';

export function createLeaseApi(
  send: Send,
  { timeoutMs, settleTimeoutMs, ttlSeconds }: { timeoutMs: number; settleTimeoutMs: number; ttlSeconds: number },
): LeaseApi {
  type Options = { timeoutMs: number; repeatable?: boolean; signal?: AbortSignal };
  const post = (path: string, body: object | undefined, options: Options) =>
    send({
      method: 'POST',
      path: `${LEASES}${path}`,
      body: body && JSON.stringify(body),
      repeatable: true,
      ...options,
    });
  const one = (leaseId: string, action: string) => `/${encodeURIComponent(leaseId)}:${action}`;

  return {
    async grant(facts, { runId, amountMicros, minMicros }) {
      const amounts = { amount_micros: amountMicros, min_micros: minMicros, ttl_seconds: ttlSeconds };
      const body = { request_id: crypto.randomUUID(), ...facts, run_id: runId, ...amounts };
      return withField<GrantLeaseResponse>(await post('', body, { timeoutMs }), 'decision');
    },
    async renew(leaseId, amountMicros) {
      const body = { request_id: crypto.randomUUID(), amount_micros: amountMicros, ttl_seconds: ttlSeconds };
      try {
        return withField<RenewLeaseResponse>(await post(one(leaseId, 'renew'), body, { timeoutMs }), 'state');
      } catch (error) {
        if (error instanceof TollkeeperError && (error.status === 404 || error.status === 409)) return null;
        throw error;
      }
    },
    async settle(leaseId, settlements, signal) {
      // Their queue repeats them, in smaller requests.
      const options = { timeoutMs: settleTimeoutMs, repeatable: false, signal };
      return withField<SettledLease>(await post(one(leaseId, 'settle'), { settlements }, options), 'results');
    },
    async return(leaseId) {
      await post(one(leaseId, 'return'), undefined, { timeoutMs });
    },
  };
}
