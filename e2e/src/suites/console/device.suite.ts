import { spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import { LOOKS } from '../../browser.ts';
import { type WaitingLogIn, waitingLogIn } from '../../command-line/device.log-in.ts';
import { useCommandLine } from '../../command.line.ts';
import { fillLogIn } from '../../console/person.ts';
import type { useWorkspaceInBrowser } from '../../console/workspace.stage.ts';
import type { Stage } from '../../deployment.ts';

/** The page on which a person confirms `tollkeeper login`. */
export function describeConsoleDevice(stage: Stage, console: ReturnType<typeof useWorkspaceInBrowser>): void {
  const { deployment } = stage;

  describe('the login of a program', () => {
    const cli = useCommandLine();
    const login = ['login', '--url'];
    const start = (env: NodeJS.ProcessEnv) => waitingLogIn(cli.start([...login, deployment().baseUrl], env));

    /** In a terminal, with a browser that only keeps the address which it is to open. */
    async function startInTerminal(env: NodeJS.ProcessEnv): Promise<WaitingLogIn & { opened(): Promise<string> }> {
      const folder = join(cli.folder(), 'browser');
      await mkdir(folder);
      await writeFile(join(folder, 'xdg-open'), `#!/bin/sh\nprintf %s "$1" > ${folder}/opened\n`, { mode: 0o755 });
      const child = spawn('script', ['-qec', `tollkeeper login --url ${deployment().baseUrl}`, '/dev/null'], {
        env: { ...cli.environment(), ...env, DISPLAY: ':0', PATH: `${folder}:${cli.environment()['PATH']}` },
      });
      return {
        ...(await waitingLogIn(child)),
        opened: () => eventually(() => readFile(join(folder, 'opened'), 'utf8')),
      };
    }

    it.each(LOOKS)('is confirmed after the person has logged in, at $size size and $theme', async (look) => {
      const env = { XDG_CONFIG_HOME: join(cli.folder(), look.size) };
      const inTerminal = look.size === 'desktop' ? await startInTerminal(env) : undefined;
      const waiting = inTerminal ?? (await start(env));
      if (inTerminal !== undefined) expect(await inTerminal.opened()).toBe(waiting.page);
      const { page, expectFit, close } = await console.browser.visit(look);
      await page.goto(waiting.page);
      await page.getByRole('heading', { name: 'Log in' }).waitFor();
      await fillLogIn(page, deployment().owner);
      await page.getByRole('heading', { name: 'Confirm a login' }).waitFor();
      await page.getByText(waiting.code, { exact: true }).waitFor();
      await page.getByText(/^tollkeeper\/\d+\.\d+\.\d+ \(linux; /).waitFor();
      await page.getByText(/^(::ffff:)?127\.0\.0\.1$|^::1$/).waitFor();
      await expectFit();
      await page.getByRole('button', { name: 'Confirm login' }).press('Enter');
      await page.getByRole('heading', { name: 'Login confirmed' }).waitFor();
      await expectFit();
      expect([await waiting.ended, waiting.printed()]).toEqual([0, expect.stringContaining('Logged in to ')]);
      await cli.outputOf(['whoami'], { env });
      await close();
    });

    it('is not confirmed by opening its page, and is declined with a typed code', async () => {
      const env = { XDG_CONFIG_HOME: join(cli.folder(), 'declined') };
      const waiting = await start(env);
      const { page, takeProblems, expectFit, close } = await console.browser.visit(LOOKS[0]!, console.owner());
      await page.goto(`/device#${waiting.code}`);
      await page.getByRole('button', { name: 'Confirm login' }).waitFor();
      await page.goto('/device');
      const code = page.getByLabel('Code');
      await code.fill('bcdf ghjk');
      await page.keyboard.press('Enter');
      await page.getByText(/^No login with this code is waiting/).waitFor();
      expect(takeProblems().filter((problem) => !problem.includes('404'))).toEqual([]);
      await expectFit();
      await code.fill(waiting.code.toLowerCase().replace('-', ' '));
      await page.keyboard.press('Enter');
      await page.getByText(waiting.code, { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Decline' }).click();
      await page.getByRole('heading', { name: 'Login declined' }).waitFor();
      await expectFit();
      expect([await waiting.ended, waiting.printed()]).toEqual([4, expect.stringContaining('was declined')]);
      await close();
    });
  });
}
