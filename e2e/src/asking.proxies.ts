import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { freePort } from '@tollkeeper/managed-process';
import { pythonWith } from '@tollkeeper/testing/python-packages';
import { filledIn, type ProxyProcess, type ProxySurroundings, startProxy } from './proxy.process.ts';

/** Proxies that ask before a call and know nothing of its usage, with the settings of their examples. */

const EXAMPLES = join(import.meta.dirname, '../../examples');
const readExample = (path: string) => readFile(join(EXAMPLES, path), 'utf8');
const PORT = /\b14\d{3}\b/g;

export async function startTraefik({ url, apiKey, modelPort }: ProxySurroundings): Promise<ProxyProcess> {
  const python = await pythonWith({ name: 'traefik', requirements: join(EXAMPLES, 'traefik/requirements.txt') });
  const port = await freePort();
  const ports = { 14113: String(port), 14010: String(modelPort) };
  const read = async (file: string) => filledIn(await readExample(`traefik/${file}`), PORT, ports);
  return startProxy({
    ...{ name: 'traefik', port, env: { TOLLKEEPER_URL: url, TOLLKEEPER_KEY: apiKey } },
    files: { 'traefik.yaml': await read('traefik.yaml'), 'routes.yaml': await read('routes.yaml') },
    command: [join(dirname(python), 'traefik'), '--configFile=traefik.yaml'],
  });
}

export async function startNginx({ url, apiKey, modelPort }: ProxySurroundings): Promise<ProxyProcess> {
  const port = await freePort();
  const values = { TOLLKEEPER_URL: url, TOLLKEEPER_KEY: apiKey, 14112: String(port), 14010: String(modelPort) };
  const settings = filledIn(await readExample('nginx/nginx.conf'), /TOLLKEEPER_(URL|KEY)|\b14\d{3}\b/g, values);
  return startProxy({
    ...{ name: 'nginx', port },
    // It makes no folders in a folder that is missing.
    files: { 'nginx.conf': settings, 'temp/.keep': '' },
    command: ['nginx', '-p', '.', '-e', 'stderr', '-c', 'nginx.conf'],
  });
}
