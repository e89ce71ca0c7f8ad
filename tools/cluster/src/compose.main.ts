import { join } from 'node:path';
import { ROOT, SAMPLE_SECRETS } from '@tollkeeper/deployment';
import { command } from './command.ts';
import { startEngine } from './engine.ts';
import { connect } from './product.client.ts';
import { say } from './say.ts';

/**
 * `docker compose up` and the first steps of the README, in separate namespaces (sandbox.ts): `compose.main.ts <home>`.
 */
const [home = ''] = process.argv.slice(2);
const EVENTS = 3;
const PROJECT = ['--file', join(ROOT, 'docker-compose.yml'), '--progress', 'quiet'];

await command('ip', ['link', 'set', 'lo', 'up']);
const engine = await startEngine({ directory: home, network: true, onProgress: say });
const startedAt = performance.now();
try {
  say('docker compose up --wait…');
  await engine.compose([...PROJECT, 'up', '--no-build', '--wait'], SAMPLE_SECRETS);
  say(`It is up after ${((performance.now() - startedAt) / 1000).toFixed(0)} s.`);
  const { FIRST_OWNER_EMAIL: email = '', FIRST_OWNER_PASSWORD: password = '' } = SAMPLE_SECRETS;
  const client = await connect('http://127.0.0.1:8080', { email, password });
  for (let event = 0; event < EVENTS; event += 1) await client.report('compose', `compose-${event}`);
  await client.waitUntilCounted('compose', EVENTS);
  say(`${EVENTS} events reported to it are counted.`);
} catch (error) {
  await engine.compose([...PROJECT, 'ps', '--all'], SAMPLE_SECRETS).catch(() => undefined);
  await engine.compose([...PROJECT, 'logs', '--tail', '5'], SAMPLE_SECRETS).catch(() => undefined);
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  await engine.compose([...PROJECT, 'down', '--volumes'], SAMPLE_SECRETS).catch(() => undefined);
  await engine.stop();
}
process.exit();
