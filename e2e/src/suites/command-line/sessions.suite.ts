import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import type { CommandLineStage } from '../../command-line/command-line.stage.ts';
import { rememberSecret } from '../../secrets.ts';

/** The session of a person, and what is wrong with one. */
export function describeCommandLineSessions({ deployment, cli }: CommandLineStage): void {
  describe('a session', () => {
    it('keeps the session for the user alone, without the password, until they log out', async () => {
      const file = join(cli.configuration(), 'tollkeeper', 'session.json');
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      expect(await readFile(file, 'utf8')).not.toContain(deployment().owner.password);
      const session = (JSON.parse(await readFile(file, 'utf8')) as { session: string }).session;
      rememberSecret(session);
      expect(JSON.parse(await cli.outputOf(['whoami', '-o', 'json']))).toMatchObject({
        user: { email: deployment().owner.email },
        workspace: deployment().workspace,
      });

      const other = { env: { XDG_CONFIG_HOME: join(cli.folder(), 'other') } };
      const { email, password } = deployment().owner;
      const login = ['login', '--url', deployment().baseUrl, '--email', email, '--password-stdin'];
      expect((await cli.run(login, { ...other, stdin: 'wrong' })).code).toBe(4);
      await cli.outputOf(login, { ...other, stdin: password });
      const saved = await readFile(join(other.env.XDG_CONFIG_HOME, 'tollkeeper', 'session.json'), 'utf8');
      await cli.outputOf(['logout'], other);
      expect(await cli.run(['whoami'], other)).toMatchObject({
        code: 4,
        stderr: expect.stringContaining('tollkeeper login'),
      });
      const ended = (JSON.parse(saved) as { session: string }).session;
      await eventually(async () => {
        const response = await fetch(`${deployment().baseUrl}/api/v1/auth/me`, {
          headers: { cookie: `gw_session=${ended}` },
        });
        expect(response.status).toBe(401);
      });
    });

    it('says what is wrong with the options and with the way to Tollkeeper, by its exit code too', async () => {
      expect(await cli.run(['aply'])).toMatchObject({ code: 3, stderr: expect.stringContaining('apply') });
      expect(await cli.run(['whoami', '--zone', 'Mars/Base'])).toMatchObject({
        code: 3,
        stderr: expect.stringContaining('--zone'),
      });
      for (const id of ['.', '..', '']) {
        expect(await cli.run(['alerts', 'ack', id])).toMatchObject({
          code: 3,
          stderr: 'Error: alert_id must be an id, and neither empty nor "." nor "..".\n',
        });
      }
      expect(await cli.run(['use', 'nowhere'])).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(deployment().workspace),
      });
      const nonsense = ['login', '--url', 'tollkeeper.example.com', '--email', 'a@b.example', '--password-stdin'];
      expect(await cli.run(nonsense, { stdin: 'x' })).toMatchObject({
        code: 3,
        stderr: expect.stringMatching(/^Error: --url must be an http:\/\/ or https:\/\/ address/),
      });
      const nobody = { XDG_CONFIG_HOME: join(cli.folder(), 'none') };
      const login = ['login', '--url', 'http://127.0.0.1:9', '--email', 'a@b.example', '--password-stdin'];
      expect(await cli.run(login, { env: nobody, stdin: 'x' })).toMatchObject({
        code: 5,
        stderr: expect.stringContaining('doctor'),
      });
      const findings = JSON.parse(
        await cli.outputOf(['doctor', '-o', 'json'], { env: { TOLLKEEPER_KEY: deployment().apiKey } }),
      ) as { check: string; state: string }[];
      expect(findings.map(({ check, state }) => `${check} ${state}`)).toEqual(
        ['program', 'session', 'connection', 'clock', 'workspace', 'alerting', 'key'].map((check) => `${check} ok`),
      );
    });
  });
}
