import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { useStandalone } from '../src/standalone.stage.ts';

const SCRIPT = resolve(import.meta.dirname, '../../charts/tollkeeper/files/test.mjs');
const run = promisify(execFile);

describe('the script of `helm test`', () => {
  const stage = useStandalone();
  let secrets: string;

  beforeAll(async () => {
    secrets = await mkdtemp(join(tmpdir(), 'tollkeeper-helm-test-'));
  });
  afterAll(() => rm(secrets, { recursive: true, force: true }));

  /** Runs it as the pod of the chart does, with these keys of the Secret. */
  async function runScript(keys: Record<string, string>): Promise<string> {
    for (const [key, value] of Object.entries(keys)) await writeFile(join(secrets, key), value);
    const args = ['--input-type=module', '--eval', await readFile(SCRIPT, 'utf8')];
    const env = { GATEWAY: stage.deployment().baseUrl, SECRETS: secrets };
    const { stdout, stderr } = await run(process.execPath, args, { env }).catch(
      (error: { stdout: string; stderr: string }) => error,
    );
    return stdout + stderr;
  }

  it('says which key the Secret lacks, and then why the first owner cannot log in', async () => {
    expect(await runScript({})).toContain('The Secret has no FIRST_OWNER_EMAIL');
    const { email } = stage.deployment().owner;
    const refused = await runScript({ FIRST_OWNER_EMAIL: email, FIRST_OWNER_PASSWORD: 'another password' });
    expect(refused).toContain('POST /api/v1/auth/login was answered 401');
  });

  it('logs in, reports a call, sees it counted and reserves, as often as it is run', async () => {
    const { email, password } = stage.deployment().owner;
    for (let time = 0; time < 2; time += 1) {
      const said = await runScript({ FIRST_OWNER_EMAIL: email, FIRST_OWNER_PASSWORD: password });
      expect(said.trim().split('\n').slice(1)).toEqual([
        'Reported a call.',
        'The dashboard has counted it.',
        'The reservation was allowed.',
      ]);
    }
  });
});
