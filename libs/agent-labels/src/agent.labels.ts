import {
  type IdentityServiceDefinition,
  isWithoutLabels,
  type Labels,
  MAX_LABELLED_AGENTS,
} from '@tollkeeper/contracts';
import { createQuestions, type GrpcClient } from '@tollkeeper/grpc';
import { AppError, type TenantId } from '@tollkeeper/kernel';
import { createSparingWarner, type Logger } from '@tollkeeper/runtime';
import { LRUCache } from 'lru-cache';

/** Labels by agent id. An agent without any may be absent. */
export type LabelsByAgent = ReadonlyMap<string, Labels>;

/** Knows the labels that owners give agents. */
export interface AgentLabels {
  /**
   * The labels of these agents, not a promise if all are in the cache. An answer is used for 1.8 s, and then waited for
   * up to the deadline. While identity is down, the last known ones; rejects with `service_unavailable` if those of an
   * agent are not known.
   */
  labelsOf(tenantId: TenantId, agentIds: readonly string[]): LabelsByAgent | Promise<LabelsByAgent>;
}

export interface AgentLabelsDeps {
  identity: Pick<GrpcClient<IdentityServiceDefinition>, 'getAgents'>;
  /** How long to wait for an answer of identity. */
  deadlineMs: number;
  logger: Logger;
  /** A monotonic clock in milliseconds. */
  now: () => number;
}

/** How long an answer is used, from its question on. With a deadline of 200 ms, changed labels apply within 2 s. */
const FRESH_MS = 1_800;
/** For the cache; enough for 200,000 agents without labels. */
const MAX_CACHE_BYTES = 32 * 1024 * 1024;
/** For agents without labels, and for calls of such agents alone. */
const NONE: Labels = {};
const NOBODY = new Map<string, Labels>();

interface Known {
  /** When identity was asked. */
  at: number;
  labels: Labels;
}

/** Asks identity, and keeps the answers in a bounded cache. */
export function createAgentLabels({ identity, deadlineMs, logger, now }: AgentLabelsDeps): AgentLabels {
  const known = new LRUCache<string, Known>({ maxSize: MAX_CACHE_BYTES, sizeCalculation: bytesOf });
  const questions = createQuestions(send, now);
  const warn = createSparingWarner(logger, now, 'identity does not answer; the last known labels stay in force');

  async function send(tenantId: TenantId, all: readonly string[]): Promise<void> {
    try {
      for (let start = 0; start < all.length; start += MAX_LABELLED_AGENTS) {
        const agentIds = all.slice(start, start + MAX_LABELLED_AGENTS);
        const at = now();
        const { agents } = await identity.getAgents({ tenantId, agentIds, withLabels: true }, { deadlineMs });
        const labelled = new Map(
          agents.filter(({ labels }) => !isWithoutLabels(labels)).map((agent) => [agent.agentId, agent.labels]),
        );
        for (const id of agentIds) known.set(keyOf(tenantId, id), { at, labels: labelled.get(id) ?? NONE });
      }
    } catch (error) {
      warn({ err: error });
      throw unavailable(error);
    }
  }

  /** The labels of those that were asked for since then, and the other agents. */
  function look(tenantId: TenantId, agentIds: readonly string[], since: number) {
    let labelled = NOBODY;
    const others: string[] = [];
    for (const id of agentIds) {
      const found = known.get(keyOf(tenantId, id));
      if (found === undefined || found.at < since) others.push(id);
      else if (found.labels !== NONE) {
        if (labelled === NOBODY) labelled = new Map();
        labelled.set(id, found.labels);
      }
    }
    return { labelled, others };
  }

  async function refresh(
    tenantId: TenantId,
    agentIds: readonly string[],
    old: readonly string[],
  ): Promise<LabelsByAgent> {
    const last = look(tenantId, agentIds, -Infinity);
    const { answered, hasFailed } = questions.ask(tenantId, old);
    // While identity fails, calls whose labels are known do not wait for it.
    if (last.others.length === 0 && hasFailed) return last.labelled;
    const failure = await answered.then(
      () => unavailable(),
      (error: unknown) => error,
    );
    const { labelled, others } = look(tenantId, agentIds, -Infinity);
    if (others.length > 0) throw failure;
    return labelled;
  }

  return {
    labelsOf(tenantId, agentIds) {
      const { labelled, others } = look(tenantId, agentIds, now() - FRESH_MS);
      return others.length === 0 ? labelled : refresh(tenantId, agentIds, others);
    },
  };
}

/** Approximate memory of an entry. */
function bytesOf({ labels }: Known, key: string): number {
  let bytes = 128 + key.length;
  for (const name in labels) bytes += 64 + name.length + labels[name]!.length * 2;
  return bytes;
}

function keyOf(tenantId: TenantId, agentId: string): string {
  return `${tenantId}/${agentId}`;
}

function unavailable(cause?: unknown): AppError {
  const message = 'The labels of the agent cannot be read right now. Try again shortly.';
  return new AppError('service_unavailable', message, { retryAfterSeconds: 1, cause });
}
