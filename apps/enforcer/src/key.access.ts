import { enforcerService, leaseService, type KeysServiceDefinition } from '@tollkeeper/contracts';
import type { GrpcClient, RpcAuthenticator } from '@tollkeeper/grpc';
import type { Authenticator } from '@tollkeeper/http';
import type { ServiceDeps } from '@tollkeeper/runtime';
import {
  createKeyAuthenticator,
  createKeyCheck,
  createKeyVerifier,
  createWorkspaceQuota,
  type KeyCheck,
  type VerifiedKey,
} from '@tollkeeper/workspace-keys';
import type { EnforcerConfig } from './config.ts';
import type { ChargeSettlements } from './domain/lease.ts';

export interface KeyAccessDeps extends Pick<ServiceDeps<unknown>, 'logger'> {
  config: Pick<EnforcerConfig, 'WORKSPACE_CALLS_PER_SECOND' | 'WORKSPACE_BURST_CALLS'>;
  keys: GrpcClient<KeysServiceDefinition>;
  /** Counts the calls that exceed the quota and are refused. */
  refused: { inc(): void };
  /** Monotonic milliseconds. */
  now: () => number;
}

/** Authenticates gateways on both transports. */
export interface KeyAccess {
  http: {
    /** For calls that ask. */
    asking: Authenticator<VerifiedKey>;
    /** For calls that settle spend, or end a reservation or a lease. */
    ending: Authenticator<VerifiedKey>;
  };
  grpc: RpcAuthenticator<VerifiedKey>;
  /** The checks themselves, for adapters that find the key in their own ways. */
  check: Record<'asking' | 'ending', KeyCheck>;
  chargeSettlements: ChargeSettlements;
}

/** So many settlements from a lease are about as much work as one other call. */
const SETTLEMENTS_PER_CALL = 25;

const { Settle, SettleMany, Release, ReleaseMany } = enforcerService;
const { SettleLease, ReturnLease } = leaseService;
const ENDING = new Set<string>(
  [Settle, SettleMany, Release, ReleaseMany, SettleLease, ReturnLease].map(({ path }) => path),
);

/**
 * Authenticates gateways by their workspace key, within the quota of their workspace. Both transports share the quota,
 * and each request of a batch counts. Calls that end reservations have a separate quota of the same size: an agent that
 * asks in a loop must not block the settlements of others.
 */
export function createKeyAccess({ config, keys, refused, logger, now }: KeyAccessDeps): KeyAccess {
  const perSecond = config.WORKSPACE_CALLS_PER_SECOND;
  const verify = createKeyVerifier(keys, now);

  function checkWithQuota(calls: string) {
    const quota = createWorkspaceQuota({
      perSecond,
      burst: config.WORKSPACE_BURST_CALLS,
      refusal: `The workspace may make ${perSecond} ${calls} a second. This one changed nothing.`,
      warning: `a workspace makes more ${calls} than WORKSPACE_CALLS_PER_SECOND allows`,
      refused,
      logger,
      now,
    });
    return { check: createKeyCheck({ verify, action: 'reserve or settle spend', quota }), quota };
  }

  const { check: asking } = checkWithQuota('calls');
  const { check: ending, quota } = checkWithQuota('calls that end reservations');
  return {
    http: { asking: createKeyAuthenticator(asking), ending: createKeyAuthenticator(ending) },
    grpc: {
      authenticate: (call) => (ENDING.has(call.rpc) ? ending(call) : asking(call)),
      senderOf: ({ tenantId }) => tenantId,
    },
    check: { asking, ending },
    // The first of them was charged at the admission of the call.
    chargeSettlements: ({ tenantId }, settlements) =>
      quota.charge(tenantId, Math.ceil(settlements / SETTLEMENTS_PER_CALL) - 1),
  };
}
