import { afterEach, describe, expect, it } from '@jest/globals';
import { GATEWAY_EVENTS_TOPIC } from '@tollkeeper/contracts';
import type { EventLog } from '@tollkeeper/event-log';
import type { TenantId } from '@tollkeeper/kernel';
import { eventually, useMongo } from '@tollkeeper/testing';
import { event, newTenant, useAlerts } from './alerts.stack.ts';

const MINUTE = 60_000;

/** A log whose partitions of `gateway.events` can be held: their records are not evaluated until they are released. */
function holdablePartitions() {
  const partitions = new Map<string, number>();
  const held = new Map<number, PromiseWithResolvers<void>>();
  const wrap = (log: EventLog): EventLog => ({
    ...log,
    consumer(options) {
      if (options.topic !== GATEWAY_EVENTS_TOPIC) return log.consumer(options);
      const { handler } = options;
      return log.consumer({
        ...options,
        handler: {
          ...handler,
          async handle(batch, stored) {
            for (const { key } of batch.records) partitions.set(key, batch.partition);
            await held.get(batch.partition)?.promise;
            await handler.handle(batch, stored);
          },
        },
      });
    },
  });
  return {
    wrap,
    partitionOf: (tenantId: TenantId) => partitions.get(tenantId),
    hold: (partition: number) => void held.set(partition, Promise.withResolvers()),
    releaseAll() {
      for (const { resolve } of held.values()) resolve();
      held.clear();
    },
  };
}

const log = holdablePartitions();
const stack = useAlerts(useMongo(), {}, log.wrap);
const { clock } = stack;
afterEach(log.releaseAll);

interface Watched {
  tenantId: TenantId;
  partition: number;
}

/** A workspace with a rule that has fired with an event, in another partition than `apart`. */
async function fired(minutes: number, apart?: Watched): Promise<Watched> {
  const tenantId = newTenant();
  await stack.createRule(tenantId, { rule_config: { window_seconds: minutes * 60, threshold: 1 } });
  await stack.append(tenantId, event(clock.now));
  await stack.settled();
  const partition = log.partitionOf(tenantId)!;
  return partition === apart?.partition ? fired(minutes, apart) : { tenantId, partition };
}

const statuses = async ({ tenantId }: Watched) => (await stack.alerts(tenantId)).map(({ status }) => status);

describe('an alert that is over by the clock', () => {
  it('resolves after a restart without an event of its partition, while another partition is never read to its end', async () => {
    const quiet = await fired(1);
    const busy = await fired(1, quiet);
    await stack.restart();
    log.hold(busy.partition);
    await stack.append(busy.tenantId, event(clock.now));
    clock.now += MINUTE;
    await eventually(async () => expect(await statuses(quiet)).toEqual(['resolved']));
  });

  it('does not resolve before the events are evaluated that were accepted until then', async () => {
    const behind = await fired(5);
    const other = await fired(1, behind);
    log.hold(behind.partition);
    clock.now += 4 * MINUTE;
    await stack.append(behind.tenantId, event(clock.now));
    clock.now += MINUTE;
    await eventually(async () => expect(await statuses(other)).toEqual(['resolved']));
    // When another alert fires and resolves, all partitions have been checked meanwhile.
    await stack.append(other.tenantId, event(clock.now));
    await eventually(async () => expect(await statuses(other)).toEqual(['firing', 'resolved']));
    clock.now += MINUTE;
    await eventually(async () => expect(await statuses(other)).toEqual(['resolved', 'resolved']));
    expect(await statuses(behind)).toEqual(['firing']);

    log.releaseAll();
    await stack.settled();
    expect(await statuses(behind)).toEqual(['firing']);
    clock.now += 3 * MINUTE;
    await eventually(async () => expect(await statuses(behind)).toEqual(['resolved']));
  });
});
