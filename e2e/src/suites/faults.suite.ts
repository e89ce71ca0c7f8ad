import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Fleet } from '@tollkeeper/fleet';
import { eventually } from '@tollkeeper/testing';
import { SERVICES, type ServiceName } from '@tollkeeper/topology';
import { type ApiClient, logIn } from '../api.client.ts';
import { type FaultRow, formatFaultTable } from '../fault.table.ts';
import type { FleetStage } from '../fleet.stage.ts';
import { recordedSenders } from '../senders/recorded.senders.ts';
import { BATCH_SIZE, startSteadyTraffic } from '../steady.traffic.ts';
import { newTelemetryWorkspace, type TelemetryWorkspace } from '../telemetry.gateway.ts';
import { newWatchedWorkspace, type WatchedWorkspace } from '../watched.workspace.ts';

const WORKSPACES = 2;
const ALARMS = 16;
/** Batches of each workspace before a fault: traffic then flows, and a few alarms have been counted but not fired. */
const BATCHES_BEFORE = 6;

/** A gateway that reports by OTLP, in another sender's way during each fault. */
const OTLP_SENDERS = recordedSenders().filter(({ protocol }) => protocol === 'otlp');

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
    const reported: TelemetryWorkspace[] = [];
    let owner: ApiClient;

    const watch = () =>
      newWatchedWorkspace({ target: stage.deployment(), owner, receiver: stage.receiver(), alarms: ALARMS });

    const reportByOtlp = (name: string) => {
      const sender = OTLP_SENDERS[reported.length % OTLP_SENDERS.length]!;
      return newTelemetryWorkspace({ target: stage.deployment(), owner, sender }, name);
    };

    beforeAll(async () => {
      owner = await logIn(stage.deployment(), stage.deployment().owner);
    });
    afterAll(() => {
      for (const { gateway } of [...watched, ...reported]) gateway.close();
      process.stdout.write(`\n${formatFaultTable(rows)}\n`);
    });

    it.each(FAULTS)(
      'of %s: every accepted event and call is counted once, every alert fires once and arrives',
      async (...fault) => {
        const [name, strike] = fault;
        const workspaces = await Promise.all(Array.from({ length: WORKSPACES }, watch));
        watched.push(...workspaces);
        const telemetry = await reportByOtlp(name);
        reported.push(telemetry);
        const traffic = startSteadyTraffic([...workspaces, telemetry]);
        await eventually(() => {
          for (const { gateway } of [...workspaces, telemetry])
            expect(gateway.accepted.length).toBeGreaterThan(BATCH_SIZE * BATCHES_BEFORE);
        });

        const restart = await strike(stage.deployment().fleet);
        const recovering = Promise.all(workspaces.map((each, index) => recovery(each, `after-${index}`)));
        await restart();
        const recoveries = await recovering;
        await traffic.stop();

        expect(telemetry.gateway.accepted).toHaveLength(telemetry.gateway.sent.length);
        for (const each of [...workspaces, telemetry]) await eventually(() => each.expectExact());
        rows.push({ fault: name, ...(await eventsOf(workspaces, recoveries)), ...(await callsOf(telemetry)) });
        expect(deaths).toEqual([]);
      },
    );

    it('and what was exact after each of them still is after all', async () => {
      expect(watched).toHaveLength(FAULTS.length * WORKSPACES);
      expect(reported).toHaveLength(FAULTS.length);
      for (const each of [...watched, ...reported]) await each.expectExact();
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

type OfCalls = Pick<FaultRow, 'calls' | 'callsCounted' | 'sentAgain' | 'sentTwice'>;

async function callsOf({ gateway, counted, sentTwice }: TelemetryWorkspace): Promise<OfCalls> {
  const sentAgain = sum([...gateway.refusals.values()]);
  return { calls: gateway.sent.length, callsCounted: await counted(), sentAgain, sentTwice };
}

async function eventsOf(
  workspaces: WatchedWorkspace[],
  recoveries: Recovery[],
): Promise<Omit<FaultRow, 'fault' | keyof OfCalls>> {
  const counts = await Promise.all(workspaces.map((each) => each.counts()));
  const alerts = await Promise.all(workspaces.map((each) => each.alerts()));
  const arrivals = workspaces.map((each) => each.arrivals());
  const isCounted = (type: string) => type === 'spend.settled' || type === 'budget.blocked';
  const slowest = (of: keyof Recovery) => Math.max(...recoveries.map((each) => each[of]));
  return {
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
