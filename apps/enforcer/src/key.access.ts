import type { KeysServiceDefinition } from '@tollkeeper/contracts';
import type { GrpcClient, RpcAuthenticator } from '@tollkeeper/grpc';
import type { Authenticator } from '@tollkeeper/http';
import type { ServiceDeps } from '@tollkeeper/runtime';
import {
  createKeyAuthenticator,
  createKeyCheck,
  createKeyVerifier,
  createWorkspaceQuota,
  type VerifiedKey,
} from '@tollkeeper/workspace-keys';
import type { EnforcerConfig } from './config.ts';

export interface KeyAccessDeps extends ServiceDeps<
  Pick<EnforcerConfig, 'WORKSPACE_CALLS_PER_SECOND' | 'WORKSPACE_BURST_CALLS'>
> {
  keys: GrpcClient<KeysServiceDefinition>;
  /** Monotonic milliseconds. */
  now: () => number;
}

/** How both transports let gateways in. */
export interface KeyAccess {
  http: Authenticator<VerifiedKey>;
  grpc: RpcAuthenticator<VerifiedKey>;
}

/** Lets gateways in by their workspace key, up to the quota of their workspace, which both transports share. */
export function createKeyAccess({ config, keys, logger, metrics, now }: KeyAccessDeps): KeyAccess {
  const perSecond = config.WORKSPACE_CALLS_PER_SECOND;
  const quota = createWorkspaceQuota({
    perSecond,
    burst: config.WORKSPACE_BURST_CALLS,
    refusal: `The workspace may make ${perSecond} calls a second. This one changed nothing: make it again later.`,
    warning: 'a workspace makes more calls than WORKSPACE_CALLS_PER_SECOND allows',
    refused: metrics.counter({
      name: 'enforcer_requests_over_quota_total',
      help: 'Requests refused because their workspace made more calls than it may',
    }),
    logger,
    now,
  });
  const check = createKeyCheck({ verify: createKeyVerifier(keys, now), action: 'reserve or settle spend', quota });
  return { http: createKeyAuthenticator(check), grpc: check };
}
