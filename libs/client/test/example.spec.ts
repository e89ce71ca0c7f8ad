import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, expect, it } from '@jest/globals';
import { GRANTED, RESERVATION } from './answers.ts';
import { error, json, startStubServer, type StubServer } from './stub.server.ts';

const EXAMPLE = join(import.meta.dirname, '../examples/reserve.ts');

let server: StubServer;
afterEach(() => server.stop());

it('the example gives its answer and settles again, with the same arguments, when its settlement fails', async () => {
  // Longer than the client waits automatically.
  const away = error(503, 'service_unavailable', { 'retry-after': '11' });
  const settled = json(200, { ...RESERVATION, state: 'settled', settled_micros: 636 });
  server = await startStubServer(json(201, GRANTED), away, settled);
  const env = { ...process.env, NODE_OPTIONS: '', TOLLKEEPER_URL: server.url, TOLLKEEPER_KEY: 'ws_live_1.secret' };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [EXAMPLE], { env });
  expect(stdout).toBe('An answer to: Why is the sky blue?\nIt has cost 636 micros.\n');
  expect(stderr).toBe('It is service_unavailable. The spend may not be recorded. Call settle again.\n');
  const [first, ...others] = server.bodies(':settle');
  expect(others).toEqual([first]);
});
