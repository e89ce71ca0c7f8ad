import { afterAll, beforeAll } from '@jest/globals';
import { freePort } from '@tollkeeper/managed-process';
import type { Deployment, Stage } from './deployment.ts';
import {
  type StandaloneProcess,
  newDataDirectory,
  removeDataDirectory,
  startStandalone,
} from '@tollkeeper/testing/standalone-process';
import { type WebhookReceiver, startWebhookReceiver } from './webhook.receiver.ts';

/** A standalone for the suites of this file. `env` adds settings and is called at the start. */
export function useStandalone(env: () => NodeJS.ProcessEnv = () => ({})): Stage {
  let dataDirectory: string;
  let receiver: WebhookReceiver;
  let deployment: Deployment;

  beforeAll(async () => {
    dataDirectory = await newDataDirectory();
    receiver = await startWebhookReceiver();
    deployment = await deploy(dataDirectory, {
      LOG_LEVEL: 'trace',
      TOLLKEEPER_ALLOW_CIDRS: '127.0.0.0/8',
      NODE_EXTRA_CA_CERTS: receiver.certificateFile,
      // The same after each restart.
      PORT: String(await freePort()),
      ...env(),
    });
  });
  afterAll(async () => {
    await deployment.end('SIGTERM');
    await receiver.stop();
    await removeDataDirectory(dataDirectory);
  });
  return { deployment: () => deployment, receiver: () => receiver };
}

async function deploy(dataDirectory: string, env: NodeJS.ProcessEnv): Promise<Deployment> {
  let logsBefore = '';
  let standalone: StandaloneProcess = await startStandalone({ dataDirectory, env });
  const { baseUrl, owner, workspace, apiKey } = standalone;
  return {
    ...{ baseUrl, owner, workspace, apiKey },
    logs: () => logsBefore + standalone.logs(),
    end: async (signal) => [await standalone.end(signal)],
    async start() {
      logsBefore += standalone.logs();
      standalone = await startStandalone({ dataDirectory, env });
    },
    processes: () => [
      { name: 'node', pid: standalone.pid },
      { name: 'mongod', pid: standalone.mongodPid },
    ],
  };
}
