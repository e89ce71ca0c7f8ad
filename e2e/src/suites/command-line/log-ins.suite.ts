import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import type { CommandLineStage } from '../../command-line/command-line.stage.ts';
import { waitingLogIn } from '../../command-line/device.log-in.ts';
import type { Runner } from '../../command-line/runner.ts';
import { spendSettled } from '../../events.ts';
import { reportEvents } from '../../workspace.ts';

/** Log-ins without a password. `console/device.suite.ts` has the page that confirms one. */
export function describeCommandLineLogIns(stage: CommandLineStage, runner: Runner): void {
  const { deployment, cli, owner, proxy } = stage;
  const configuration = (name: string) => ({ XDG_CONFIG_HOME: join(cli.folder(), name) });
  const decide = (what: 'confirm' | 'decline', user_code: string) =>
    owner().expect({
      method: 'POST',
      path: `/api/v1/auth/device-login:${what}`,
      body: { user_code },
      status: 204,
    });
  const whoAmI = async (env: NodeJS.ProcessEnv) =>
    JSON.parse(await cli.outputOf(['whoami', '-o', 'json'], { env })) as {
      user: { id: string; name: string };
      workspaces: { slug: string; role: string }[];
    };

  describe('a log-in in the browser', () => {
    it('gives the program a session of the person who confirms it, also after answers that were lost', async () => {
      const env = configuration('browser');
      const lost = proxy().exchanges.length;
      const waiting = await waitingLogIn(cli.start(['login', '--url', proxy().url], env));
      expect(waiting.page).toMatch(/\/device#[A-Z-]{9}$/);
      proxy().disturb('cut', 'refused');
      const path = `/api/v1/auth/device-login?user_code=${waiting.code}`;
      const asked = await owner().expect<{ user_agent: string }>({ path });
      expect(asked.user_agent).toMatch(/^tollkeeper\/\d+\.\d+\.\d+ \(linux; /);
      await eventually(() => expect(proxy().exchanges.length - lost).toBeGreaterThanOrEqual(3));
      await decide('confirm', waiting.code);
      expect([await waiting.ended, waiting.printed()]).toEqual([0, expect.stringContaining('Logged in to ')]);
      const statuses = proxy()
        .exchanges.slice(lost)
        .map(({ status }) => status);
      expect(statuses).toEqual(expect.arrayContaining([undefined, 503, 200]));
      const me = await owner().expect<{ user: { id: string } }>({ path: '/api/v1/auth/me' });
      expect((await whoAmI(env)).user.id).toBe(me.user.id);
      await cli.outputOf(['logout'], { env });
    });

    it('that is declined ends the command, and leaves no session', async () => {
      const env = configuration('declined');
      const waiting = await waitingLogIn(cli.start(['login', '--url', proxy().url], env));
      await decide('decline', waiting.code);
      expect([await waiting.ended, waiting.printed()]).toEqual([4, expect.stringContaining('was declined')]);
      expect((await cli.run(['whoami'], { env })).code).toBe(4);
    });

    it('is refused in CI, where nobody can confirm it', async () => {
      const ended = await cli.run(['login', '--url', proxy().url], { env: { ...configuration('ci'), CI: 'true' } });
      expect(ended).toMatchObject({ code: 3, stderr: expect.stringContaining('--oidc-provider') });
    });
  });

  describe('a log-in of a job', () => {
    const login = (...more: string[]) => ['login', '--url', deployment().baseUrl, '--oidc-provider', 'ci', ...more];
    const audience = ['--oidc-audience', runner.audience];

    it('of GitHub Actions requests the token for the audience, again if the first request fails', async () => {
      const env = { ...configuration('github'), ...runner.environment() };
      runner.fail(503);
      const ended = await cli.run(login(...audience), { env });
      expect([ended.stderr, ended.code]).toEqual([expect.stringContaining('as deploy.'), 0]);
      expect(await whoAmI(env)).toMatchObject({
        user: { name: 'deploy' },
        workspaces: [{ slug: deployment().workspace, role: 'member' }],
      });
      expect(await cli.outputOf(['whoami'], { env })).toMatch(/^deploy at /);
      await cli.outputOf(['agents'], { env });
    });

    it('sees calls as they happen and finds no problem, though its role may not see alerts', async () => {
      const env = { ...configuration('member'), CI: 'true', TOLLKEEPER_ID_TOKEN: runner.token() };
      expect((await cli.run(login(), { env })).code).toBe(0);
      const findings = JSON.parse(await cli.outputOf(['doctor', '-o', 'json'], { env })) as Record<string, string>[];
      expect(findings.filter(({ state }) => state !== 'ok')).toMatchObject([{ check: 'alerting', state: 'warning' }]);
      const tail = cli.start(['events', 'tail', '--count', '1'], env);
      const ended = once(tail, 'exit');
      let printed = '';
      for (const stream of [tail.stdout, tail.stderr]) stream?.on('data', (chunk: Buffer) => (printed += chunk));
      await eventually(() => expect(printed).toContain('Alerts are left out'));
      await reportEvents(deployment(), deployment().apiKey, [
        spendSettled({ agentId: 'seen-by-job', amountMicros: 7 }),
      ]);
      expect([await ended, printed]).toEqual([[0, null], expect.stringContaining('seen-by-job: $0.000007')]);
    });

    it('of GitHub Actions asks for the address as the audience if none is given', async () => {
      const env = { ...configuration('github-audience'), ...runner.environment() };
      const { code, stderr } = await cli.run(login(), { env });
      expect([code, stderr]).toEqual([4, expect.stringContaining(`for the audience ${deployment().baseUrl}`)]);
    });

    it('of GitLab takes the token from the variable, and of Kubernetes from the file, each once', async () => {
      const token = runner.token();
      const gitlab = { ...configuration('gitlab'), CI: 'true', TOLLKEEPER_ID_TOKEN: token };
      expect((await cli.run(login(), { env: gitlab })).code).toBe(0);
      const file = join(cli.folder(), 'token');
      await writeFile(file, `${runner.token()}\n`);
      const pod = configuration('pod');
      expect((await cli.run(login('--oidc-token-file', file), { env: pod })).code).toBe(0);
      for (const env of [gitlab, pod]) expect((await whoAmI(env)).user.name).toBe('deploy');

      const again = await cli.run(login('--oidc-token-file', file), { env: pod });
      expect([again.code, again.stderr]).toEqual([4, expect.stringContaining('already used')]);
      expect(again.stderr).not.toContain(token.slice(0, 40));
    });

    it('without a token, or with one that cannot be had, says where one comes from', async () => {
      const env = { ...configuration('no-token'), CI: 'true' };
      const said = async (args: string[], more: NodeJS.ProcessEnv = {}) => {
        const { code, stderr } = await cli.run(args, { env: { ...env, ...more } });
        return [code, stderr];
      };
      expect(await said(login())).toEqual([3, expect.stringContaining('--oidc-token-file <path>')]);
      expect(await said(login('--oidc-token-file', '/nowhere'))).toEqual([
        3,
        expect.stringMatching(/--oidc-token-file: \/nowhere cannot be read \(ENOENT\)/),
      ]);
      expect(await said(login(), { GITHUB_ACTIONS: 'true' })).toEqual([3, expect.stringContaining('id-token: write')]);
      expect(await said(['login', '--url', proxy().url, '--oidc-token-file', '/nowhere'])).toEqual([
        3,
        expect.stringContaining('--oidc-provider is missing'),
      ]);
      runner.fail(500, 500, 403);
      expect(await said(login(...audience), runner.environment())).toEqual([
        1,
        expect.stringContaining('it answered 403'),
      ]);
    });
  });
}
