import { encodeGatewayEvent, type GatewayEvent } from '@tollkeeper/contracts';
import { type Clock, mapInSlices, type TenantId } from '@tollkeeper/kernel';

export interface EventIntake {
  /**
   * Appends the events to the log in order. Resolves once they are durable: then they count, even if this process dies.
   * After a rejection, some of them may be in the log. Sending them again is safe, because an event counts once.
   */
  accept(tenantId: TenantId, events: readonly GatewayEvent[]): Promise<void>;
}

export interface EventIntakeDeps {
  /** Resolves when the records are durable. Rejects with `service_unavailable` if the log cannot take them. */
  append: (records: { key: string; value: Buffer }[]) => Promise<void>;
  clock: Clock;
}

export function createEventIntake({ append, clock }: EventIntakeDeps): EventIntake {
  return {
    async accept(tenantId, events) {
      const receivedAt = new Date(clock()).toISOString();
      await append(await mapInSlices(events, (event) => encodeGatewayEvent({ tenantId, receivedAt, event })));
    },
  };
}
