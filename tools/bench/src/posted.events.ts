import { newId } from '@tollkeeper/kernel';

/** Posts events with a key; throws unless they are accepted. */
export async function postEvents(url: string, key: string, events: object[]): Promise<void> {
  const response = await fetch(`${url}/api/v1/events`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/cloudevents-batch+json' },
    body: JSON.stringify(events),
  });
  if (response.status !== 202) throw new Error(`posting events answered ${response.status}: ${await response.text()}`);
}

/** Settings of a standalone or a fleet that let one workspace post as fast as it can. */
export const UNLIMITED_EVENTS = {
  WORKSPACE_EVENTS_PER_SECOND: '10000000',
  WORKSPACE_BURST_EVENTS: '10000000',
  WORKSPACE_BYTES_PER_SECOND: '1000000000',
  WORKSPACE_BURST_BYTES: '1000000000',
};

/** The settled spend of one call, just now; `index` distributes calls over runs and agents. */
export function settledNow(index: number): object {
  return eventNow('spend.settled', {
    settlement_id: newId('stl'),
    run_id: `run-${index % 100}`,
    agent_id: `agent-${index % 20}`,
    amount_micros: 1_000,
  });
}

export function eventNow(type: string, data: object): { id: string } {
  const time = new Date().toISOString();
  return Object.assign({ id: newId('evt') }, { specversion: '1.0', source: '/bench', type, time, data });
}
