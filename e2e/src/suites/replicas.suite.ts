import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { GATEWAY_EVENTS_TOPIC, GATEWAY_EVENTS_TOPIC_OPTIONS } from '@tollkeeper/contracts';
import type { Replica } from '@tollkeeper/fleet';
import { eventually } from '@tollkeeper/testing';
import { Partitioners } from 'kafkajs';
import { type ApiClient, logIn } from '../api.client.ts';
import type { FleetStage } from '../fleet.stage.ts';
import { readMetric } from '../metrics.ts';
import { startSteadyTraffic } from '../steady.traffic.ts';
import { newWatchedWorkspace, type WatchedWorkspace } from '../watched.workspace.ts';
import { newWorkspace, type TestWorkspace } from '../workspace.ts';

const ALARMS = 20;
const SHARED = ['dashboard', 'alerts'] as const;
const { partitions: PARTITIONS } = GATEWAY_EVENTS_TOPIC_OPTIONS;

export function describeReplicas(stage: FleetStage): void {
  describe('replicas of dashboard and alerts', () => {
    const workspaces: WatchedWorkspace[] = [];

    const running = (service: (typeof SHARED)[number]): Replica[] =>
      stage.deployment().fleet.services[service].filter(({ pid }) => pid !== undefined);
    const replica = (service: (typeof SHARED)[number], name: string): Replica =>
      running(service).find((each) => each.name === `${service}-${name}`)!;

    /** Both services at the same time, because a fault in one must not disturb the other either. */
    const both = (work: (service: (typeof SHARED)[number]) => Promise<unknown>) => Promise.all(SHARED.map(work));

    /** Waits until the running replicas have these numbers of partitions, and every partition has a replica. */
    async function expectShares(...shares: number[]): Promise<void> {
      await both((service) =>
        eventually(async () => {
          const owned = await Promise.all(running(service).map(ownedPartitions));
          expect(owned.map(({ length }) => length)).toEqual(shares);
          expect(new Set(owned.flat()).size).toBe(PARTITIONS);
        }),
      );
    }

    beforeAll(async () => {
      const target = stage.deployment();
      const owner = await logIn(target, target.owner);
      for (const workspace of await workspaceOfEachPartition(owner)) {
        const receiver = stage.receiver();
        workspaces.push(await newWatchedWorkspace({ target, owner, receiver, alarms: ALARMS, workspace }));
      }
    });

    afterAll(() => {
      for (const { gateway } of workspaces) gateway.close();
    });

    it('share the partitions, and come and go in mid-stream without changing any result', async () => {
      const { fleet } = stage.deployment();
      const traffic = startSteadyTraffic(workspaces);
      await expectShares(6);
      await both((service) => fleet.addReplica(service));
      await expectShares(3, 3);
      await both((service) => fleet.addReplica(service));
      await expectShares(2, 2, 2);
      await both((service) => replica(service, '2').kill('SIGTERM'));
      await expectShares(3, 3);
      await both((service) => replica(service, '3').kill('SIGKILL'));
      await expectShares(6);
      await traffic.stop();
      for (const each of workspaces) await eventually(() => each.expectExact());
    });
  });
}

/** Partitions that the replica has read from since it got them. */
async function ownedPartitions(replica: Replica): Promise<string[]> {
  const lags = await readMetric(replica, 'event_log_lag_records');
  return lags.flatMap(({ labels: { topic, partition } }) => (topic === GATEWAY_EVENTS_TOPIC ? [partition!] : []));
}

/** One workspace per partition of the topic, so that each partition has the events of one. */
async function workspaceOfEachPartition(owner: ApiClient): Promise<TestWorkspace[]> {
  const partitionOf = Partitioners.DefaultPartitioner();
  const partitionMetadata = Array.from({ length: PARTITIONS }, (_, partitionId) => ({
    ...{ partitionId, leader: 0, partitionErrorCode: 0 },
    ...{ replicas: [], isr: [] },
  }));
  const found = new Map<number, TestWorkspace>();
  while (found.size < PARTITIONS) {
    const workspace = await newWorkspace(owner);
    const message = { key: workspace.id, value: null };
    found.set(partitionOf({ topic: GATEWAY_EVENTS_TOPIC, partitionMetadata, message }), workspace);
  }
  return [...found.values()];
}
