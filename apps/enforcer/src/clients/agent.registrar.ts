import { setTimeout as delay } from 'node:timers/promises';
import type { IdentityServiceDefinition } from '@tollkeeper/contracts';
import type { GrpcClient } from '@tollkeeper/grpc';
import { roomFor, type TenantId } from '@tollkeeper/kernel';
import { createSparingWarner, type Logger } from '@tollkeeper/runtime';
import { LRUCache } from 'lru-cache';
import type { AgentRegistrar } from '../domain/peers.ts';

/** Maximum number of ids in one RPC (identity.proto). */
const MAX_AGENTS = 1000;
const MAX_KNOWN_AGENTS = 50_000;
/** Maximum number of waiting agents of all workspaces. Others are tried when they are seen again. */
const MAX_WAITING_AGENTS = 20_000;
/** Time without requests for a workspace after identity failed. */
const PAUSE_MS = 1000;

export interface AgentRegistrarDeps {
  identity: GrpcClient<IdentityServiceDefinition>;
  logger: Logger;
  /** A monotonic clock in milliseconds. */
  now: () => number;
}

/** Registers agents with identity in batches, one batch per workspace at a time. */
export function createAgentRegistrar({ identity, logger, now }: AgentRegistrarDeps): AgentRegistrar {
  const known = new LRUCache<string, true>(roomFor(MAX_KNOWN_AGENTS));
  /** Agents that wait for registration or are being registered, by workspace. */
  const waiting = new Map<TenantId, Set<string>>();
  let waitingCount = 0;
  const warn = createSparingWarner(logger, now, 'agents could not be registered; retrying at their next call');

  async function registerAll(tenantId: TenantId, agents: Set<string>): Promise<void> {
    // Agents seen in the same turn of the event loop form one batch.
    await Promise.resolve();
    while (agents.size > 0) {
      const agentIds = [...agents].slice(0, MAX_AGENTS);
      let failed = false;
      try {
        await identity.registerAgents({ tenantId, agentIds });
        for (const agentId of agentIds) known.set(keyOf(tenantId, agentId), true);
      } catch (error) {
        failed = true;
        warn({ err: error });
      }
      for (const agentId of agentIds) agents.delete(agentId);
      waitingCount -= agentIds.length;
      if (failed) await delay(PAUSE_MS, undefined, { ref: false });
    }
    waiting.delete(tenantId);
  }

  return {
    seen(tenantId, agentId) {
      if (known.get(keyOf(tenantId, agentId)) !== undefined) return;
      let agents = waiting.get(tenantId);
      if (agents?.has(agentId) || waitingCount >= MAX_WAITING_AGENTS) return;
      waitingCount += 1;
      if (agents === undefined) {
        agents = new Set();
        waiting.set(tenantId, agents);
        void registerAll(tenantId, agents);
      }
      agents.add(agentId);
    },
  };
}

function keyOf(tenantId: TenantId, agentId: string): string {
  return `${tenantId}/${agentId}`;
}
