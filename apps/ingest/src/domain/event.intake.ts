import {
  encodeGatewayEvent,
  type GatewayEvent,
  isCall,
  isWithoutLabels,
  type Labels,
  mergeLabels,
} from '@tollkeeper/contracts';
import { type Clock, mapInSlices, type TenantId } from '@tollkeeper/kernel';

/** The workspace key with which a gateway reports. */
export interface ReportingKey {
  tenantId: TenantId;
  /** Undefined within the process of the standalone, where no key reports. */
  keyId: string | undefined;
  /** The labels of every call that is reported with it. */
  labels: Labels;
}

export interface EventIntake {
  /**
   * Appends the events to the log in order, with all labels of their calls. Resolves once they are durable: then they
   * count, even if this process dies. After a rejection, some of them may be in the log. Sending them again is safe,
   * because an event counts once. Rejects with `service_unavailable` if the labels of an agent are not known.
   */
  accept(key: ReportingKey, events: readonly GatewayEvent[]): Promise<void>;
}

type LabelsByAgent = ReadonlyMap<string, Labels>;

export interface EventIntakeDeps {
  /** Resolves when the records are durable. Rejects with `service_unavailable` if the log cannot take them. */
  append: (records: { key: string; value: Buffer }[]) => Promise<void>;
  /** The labels of these agents; without any, an agent may be absent. Rejects with `service_unavailable`. */
  labelsOf: (tenantId: TenantId, agentIds: readonly string[]) => LabelsByAgent | Promise<LabelsByAgent>;
  /** Charges the workspace for bytes that the events have more in the log. Never refuses the events for it. */
  oweBytes: (tenantId: TenantId, bytes: number) => void;
  clock: Clock;
}

export function createEventIntake({ append, labelsOf, oweBytes, clock }: EventIntakeDeps): EventIntake {
  return {
    async accept({ tenantId, keyId, labels: ofKey }, events) {
      const receivedAt = new Date(clock()).toISOString();
      const agentIds = new Set(events.flatMap((event) => (isCall(event) ? event.data.agent_id : [])));
      const ofAgents = await labelsOf(tenantId, [...agentIds]);
      oweBytes(tenantId, addedBytes(events, ofKey, ofAgents));
      await append(
        await mapInSlices(events, (event) =>
          encodeGatewayEvent({ tenantId, receivedAt, keyId, event: withLabels(event, ofKey, ofAgents) }),
        ),
      );
    },
  };
}

function withLabels(event: GatewayEvent, ofKey: Labels, ofAgents: LabelsByAgent): GatewayEvent {
  if (!isCall(event)) return event;
  const { agent_id: agentId, labels: ofCall = {} } = event.data;
  const labels = mergeLabels(ofKey, ofAgents.get(agentId) ?? {}, ofCall);
  if (isWithoutLabels(labels)) return event;
  return { ...event, data: { ...event.data, labels } } as GatewayEvent;
}

/** Bytes of the labels that the events get from their key and their agents. */
function addedBytes(events: readonly GatewayEvent[], ofKey: Labels, ofAgents: LabelsByAgent): number {
  if (ofAgents.size === 0 && isWithoutLabels(ofKey)) return 0;
  const bytes = (labels: Labels) => (isWithoutLabels(labels) ? 0 : Buffer.byteLength(JSON.stringify(labels)));
  const byAgent = new Map([...ofAgents].map(([agentId, labels]) => [agentId, bytes(mergeLabels(ofKey, labels))]));
  const byKey = bytes(ofKey);
  let sum = 0;
  for (const event of events) if (isCall(event)) sum += byAgent.get(event.data.agent_id) ?? byKey;
  return sum;
}
