import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Fleet } from '@tollkeeper/fleet';
import { eventually } from '@tollkeeper/testing';
import { SERVICES, type ServiceName } from '@tollkeeper/topology';
import { type ApiClient, logIn } from '../api.client.ts';
import { type FaultRow, formatFaultTable } from '../fault.table.ts';
import type { FleetStage } from '../fleet.stage.ts';
import { BATCH_SIZE, startSteadyTraffic } from '../steady.traffic.ts';
import { newWatchedWorkspace, type WatchedWorkspace } from '../watched.workspace.ts';

const WORKSPACES = 2;
const ALARMS = 16;
/** Batches of each workspace before a fault: traffic then flows, and a few alarms have been counted but not fired. */
const BATCHES_BEFORE = 10;

/** Kills something permanently, and resolves to a function that starts it again. */
type Fault = (fleet: Fleet) => Promise<() => Promise<void>>;

const FAULTS: [name: string, fault: Fault][] = [
  ...SERVICES.map((service): [string, Fault] => [service, (fleet) => killService(fleet, service)]),
  ['the Kafka broker', killBroker],
  ['the MongoDB primary', killPrimary],
];

/** Needs a fleet with three members of MongoDB. `deaths` lists the processes that ended unexpectedly. */
export function describeFaults(stage: FleetStage, deaths: readonly string[]): void {
  describe('while events flow and rules fire, kill -9 and restart', () => {
    const rows: FaultRow[] = [];
    const watched: WatchedWorkspace[] = [];
    let owner: ApiClient;

    const watch = () =>
      newWatchedWorkspace({ target: stage.deployment(), owner, receiver: stage.receiver(), alarms: ALARMS });

    beforeAll(async () => {
      owner = await logIn(stage.deployment(), stage.deployment().owner);
    });
    afterAll(() => {
      for (const { gateway } of watched) gateway.close();
      process.stdout.write(`\n${formatFaultTable(rows)}\n`);
    });

    it.each(FAULTS)(
      'of %s: everything accepted is counted once, every alert fires once and arrives',
      async (...fault) => {
        const [name, strike] = fault;
        const workspaces = await Promise.all(Array.from({ length: WORKSPACES }, watch));
        watched.push(...workspaces);
        const traffic = startSteadyTraffic(workspaces);
        await eventually(() => {
          for (const { gateway } of workspaces)
            expect(gateway.accepted.length).toBeGreaterThan(BATCH_SIZE * BATCHES_BEFORE);
        });

        const restart = await strike(stage.deployment().fleet);
        const recovering = Promise.all(workspaces.map((each, index) => recovery(each, `after-${index}`)));
        await restart();
        const recoveries = await recovering;
        await traffic.stop();

        for (const each of workspaces) await eventually(() => each.expectExact());
        rows.push(await toRow(name, workspaces, recoveries));
        expect(deaths).toEqual([]);
      },
    );

    it('and what was exact after each of them still is after all', async () => {
      expect(watched).toHaveLength(FAULTS.length * WORKSPACES);
      for (const each of watched) await each.expectExact();
    });
  });
}

type Recovery = Pick<FaultRow, 'acceptedAfterS' | 'countedAfterS' | 'notifiedAfterS'>;

/** Follows new events on their whole way. */
async function recovery(workspace: WatchedWorkspace, agentId: string): Promise<Recovery> {
  const start = performance.now();
  const elapsed = () => (performance.now() - start) / 1000;
  await workspace.mark(agentId);
  const acceptedAfterS = elapsed();
  let [countedAfterS, notifiedAfterS] = [NaN, NaN];
  await eventually(async () => {
    const { counted, registered, notified } = await workspace.sees(agentId);
    if (counted && registered && isNaN(countedAfterS)) countedAfterS = elapsed();
    if (notified && isNaN(notifiedAfterS)) notifiedAfterS = elapsed();
    expect({ counted, registered, notified }).toEqual({ counted: true, registered: true, notified: true });
  });
  return { acceptedAfterS, countedAfterS, notifiedAfterS };
}

async function toRow(fault: string, workspaces: WatchedWorkspace[], recoveries: Recovery[]): Promise<FaultRow> {
  const counts = await Promise.all(workspaces.map((each) => each.counts()));
  const alerts = await Promise.all(workspaces.map((each) => each.alerts()));
  const arrivals = workspaces.map((each) => each.arrivals());
  const isCounted = (type: string) => type === 'spend.settled' || type === 'budget.blocked';
  const slowest = (of: keyof Recovery) => Math.max(...recoveries.map((each) => each[of]));
  return {
    fault,
    sent: sum(workspaces.map(({ gateway }) => gateway.sent.filter(({ type }) => isCounted(type)).length)),
    counted: sum(counts.map(({ settlements, blocked }) => settlements + blocked)),
    alertsExpected: sum(workspaces.map((each) => each.expectedAlerts().length)),
    alertsSeen: sum(alerts.map(({ length }) => length)),
    attempts: sum(arrivals.map(({ attempts }) => attempts)),
    delivered: sum(arrivals.map(({ byAlert }) => sum([...byAlert.values()].map(({ size }) => size)))),
    acceptedAfterS: slowest('acceptedAfterS'),
    countedAfterS: slowest('countedAfterS'),
    notifiedAfterS: slowest('notifiedAfterS'),
  };
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

async function killService(fleet: Fleet, service: ServiceName): Promise<() => Promise<void>> {
  const [replica] = fleet.services[service];
  await replica?.kill('SIGKILL');
  return async () => {
    replica?.launch();
    await replica?.ready();
  };
}

async function killBroker({ kafka }: Fleet): Promise<() => Promise<void>> {
  await kafka?.kill();
  return async () => kafka?.restart();
}

async function killPrimary({ mongo }: Fleet): Promise<() => Promise<void>> {
  const primary = await mongo?.primary();
  await primary?.kill();
  return async () => primary?.restart();
}
