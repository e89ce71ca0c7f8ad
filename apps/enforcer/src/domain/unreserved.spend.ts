import { mergeLabels } from '@tollkeeper/contracts';
import type { Clock } from '@tollkeeper/kernel';
import { GATEWAY_ANSWER_MS, within } from './answer.time.ts';
import { spendSettled } from './enforcement.events.ts';
import type { AgentLabelSource, AgentRegistrar } from './peers.ts';
import type { ReservationRequest, ReservingKey, Settlement } from './reservation.ts';
import type { AppendEvents } from './workspace.appends.ts';

/** A call as its gateway describes it. */
export type ReportedCall = Pick<
  ReservationRequest,
  'requestId' | 'agentId' | 'runId' | 'planKey' | 'model' | 'provider' | 'labels'
>;

export interface UnreservedSpend {
  /**
   * Reports what a call without a reservation cost. The event is in the log once it resolves, and the spend is posted
   * from there, once for each settlement id. Rejects with `service_unavailable` if the log does not take it in time.
   */
  report(key: ReservingKey, call: ReportedCall, settlement: Settlement): Promise<void>;
}

export interface UnreservedSpendDeps {
  append: AppendEvents;
  agents: AgentRegistrar;
  agentLabels: AgentLabelSource;
  clock: Clock;
}

export function createUnreservedSpend({ append, agents, agentLabels, clock }: UnreservedSpendDeps): UnreservedSpend {
  return {
    async report({ tenantId, keyId, labels: pinned }, call, settlement) {
      const work = async () => {
        // It is reported once, so it counts without the agent's labels rather than not at all.
        const ofAgents = await Promise.resolve(agentLabels.labelsOf(tenantId, [call.agentId])).catch(() => undefined);
        const labels = mergeLabels(pinned, ofAgents?.get(call.agentId) ?? {}, call.labels);
        const settled = { ...call, id: null, keyId, labels };
        await append(tenantId, [spendSettled(tenantId, settled, settlement, clock())]);
      };
      await within(GATEWAY_ANSWER_MS, work());
      agents.seen(tenantId, call.agentId);
    },
  };
}
