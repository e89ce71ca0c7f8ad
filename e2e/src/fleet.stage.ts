import { afterAll, beforeAll } from '@jest/globals';
import { type Fleet, type FleetOptions, startFleet } from '@tollkeeper/fleet';
import { OWNER, newDataDirectory, removeDataDirectory } from '@tollkeeper/testing/standalone-process';
import type { Deployment, Stage } from './deployment.ts';
import { type WebhookReceiver, startWebhookReceiver } from './webhook.receiver.ts';

/** A fleet of processes on real Kafka and MongoDB. */
export interface FleetDeployment extends Deployment {
  readonly fleet: Fleet;
}

export interface FleetStage extends Stage {
  deployment(): FleetDeployment;
}

/** Includes building every service from scratch. */
const START_TIMEOUT_MS = 600_000;

/** A fleet for the suites of this file. */
export function useFleet(options: Partial<FleetOptions> = {}): FleetStage {
  let dataDirectory: string;
  let receiver: WebhookReceiver;
  let deployment: FleetDeployment;

  beforeAll(async () => {
    dataDirectory = await newDataDirectory();
    receiver = await startWebhookReceiver();
    deployment = await deployFleet({
      dataDirectory,
      allowCidrs: '127.0.0.0/8',
      ...options,
      env: { LOG_LEVEL: 'trace', NODE_EXTRA_CA_CERTS: receiver.certificateFile, ...options.env },
    });
  }, START_TIMEOUT_MS);
  afterAll(async () => {
    await deployment?.fleet.stop();
    await receiver.stop();
    await removeDataDirectory(dataDirectory);
  });
  return { deployment: () => deployment, receiver: () => receiver };
}

/** Starts a fleet, and stores the output of its services. */
export async function deployFleet(options: FleetOptions): Promise<FleetDeployment> {
  const lines: string[] = [];
  const fleet = await startFleet({
    firstOwner: OWNER,
    ...options,
    onLine(replica, line) {
      lines.push(line);
      options.onLine?.(replica, line);
    },
  });
  const replicas = () => Object.values(fleet.services).flat();
  const { baseUrl, owner, workspace, apiKey } = fleet;
  return {
    ...{ fleet, baseUrl, owner, workspace, apiKey },
    logs: () => lines.join('\n'),
    end: (signal) => Promise.all(replicas().map((replica) => replica.kill(signal))),
    async start() {
      for (const replica of replicas()) replica.launch();
      await Promise.all(replicas().map((replica) => replica.ready()));
    },
    processes: () => replicas().flatMap(({ name, pid }) => (pid === undefined ? [] : [{ name, pid }])),
  };
}
