import { afterEach, describe, expect, it } from '@jest/globals';
import { LOOKS } from '../../browser.ts';
import { beLoggedIn, fillLogIn } from '../../console/person.ts';
import type { useWorkspaceInBrowser } from '../../console/workspace.stage.ts';
import type { Stage } from '../../deployment.ts';
import { newMember, newWorkspace } from '../../workspace.ts';

export function describeConsoleSessions(stage: Stage, console: ReturnType<typeof useWorkspaceInBrowser>): void {
  describe.each(LOOKS)('a session, at $size size and $theme', (look) => {
    afterEach(() => console.closeAll());

    it('begins with the log-in, which says what is wrong and keeps the page that was asked for', async () => {
      const { page, takeProblems, expectFit, close } = await console.browser.visit(look);
      const { owner } = stage.deployment();
      await page.goto(`/w/${console.workspace().slug}/budgets?range=3m`);
      await page.getByRole('heading', { name: 'Log in' }).waitFor();
      await expectFit();
      await fillLogIn(page, { ...owner, password: 'not-the-password' });
      await page.getByText('E-mail or password is wrong.').waitFor();
      expect(takeProblems()).toEqual(['401 /api/v1/auth/login', expect.stringContaining('401')]);
      await fillLogIn(page, owner);
      await page.getByRole('heading', { level: 1, name: 'Budgets' }).waitFor();
      expect(page.url()).toMatch(/\/budgets\?range=3m$/);
      await close();
    });

    it('begins by keyboard alone', async () => {
      const { page, close } = await console.browser.visit(look);
      const { owner } = stage.deployment();
      await page.goto('/');
      await page.getByLabel('E-mail').waitFor();
      await page.keyboard.type(owner.email);
      await page.keyboard.press('Tab');
      await page.keyboard.type(owner.password);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
      await close();
    });

    it('shows nothing of a workspace of others', async () => {
      const others = await newWorkspace(console.owner());
      const { page, close } = await console.browser.visit(look);
      const stranger = await newMember(stage.deployment(), console.owner(), others, 'owner');
      await beLoggedIn(page, stranger, stage.deployment().baseUrl);
      await page.goto(`/w/${console.workspace().slug}/spend`);
      await page.getByText('There is no such page').waitFor();
      expect(await page.content()).not.toContain('planner');
      await close();
    });

    it('leads nowhere else after the log-in, whatever its address says', async () => {
      for (const next of ['https://evil.example', '//evil.example', '/\\evil.example']) {
        const { page, close } = await console.browser.visit(look);
        await page.goto(`/login?next=${encodeURIComponent(next)}`);
        await fillLogIn(page, stage.deployment().owner);
        await page.waitForURL(/\/w\//);
        expect(new URL(page.url()).origin).toBe(stage.deployment().baseUrl);
        await close();
      }
    });

    it('that ends asks for the password over the page, and nothing that was typed is lost', async () => {
      const { page, takeProblems } = await console.open(look, '/budgets');
      await page.getByRole('button', { name: 'Edit: End to end' }).click();
      const field = page.getByLabel('Daily budget of End to end, in USD');
      await field.fill('77.25');
      await page.context().clearCookies();
      const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
      await dialog.waitFor();
      await dialog.getByLabel('Password').fill(stage.deployment().owner.password);
      await dialog.getByRole('button', { name: 'Log in' }).click();
      await dialog.waitFor({ state: 'detached' });
      expect(await field.inputValue()).toBe('77.25');
      // Everything that was asked without a session, and nothing else.
      expect(takeProblems().filter((problem) => !problem.includes('401'))).toEqual([]);
    });

    it('ends with the log-out, and the pages are behind the log-in again', async () => {
      const { page } = await console.open(look, '');
      if (look.size === 'phone') await page.getByRole('button', { name: 'Menu' }).click();
      await page.getByRole('button', { name: 'Log out' }).click();
      await page.getByRole('heading', { name: 'Log in' }).waitFor();
      await page.goto(`/w/${console.workspace().slug}/keys`);
      await page.getByRole('heading', { name: 'Log in' }).waitFor();
    });
  });

  describe('what a role may not do', () => {
    it('is not in the menu, and its address says which role it needs', async () => {
      const member = await newMember(stage.deployment(), console.owner(), console.workspace(), 'member');
      const { page, close } = await console.browser.visit(LOOKS[0]!);
      await beLoggedIn(page, member, stage.deployment().baseUrl);
      for (const [below, needed] of [
        ['/budgets', 'owners'],
        ['/alerts', 'admin'],
        ['/rules', 'admin'],
        ['/channels', 'admin'],
        ['/keys', 'owner'],
        ['/members', 'owner'],
      ] as const) {
        await page.goto(`/w/${console.workspace().slug}${below}`);
        await page.getByRole('main').getByText(needed).first().waitFor();
      }
      const menu = page.getByRole('navigation', { name: 'Pages' });
      expect(await menu.getByRole('link').allTextContents()).toEqual([
        ...['Overview', 'Spend', 'Agents', 'Blocked', 'Limits', 'Settings'],
      ]);
      expect(await page.getByRole('button', { name: /^(New|Add|Rename|Edit|Set|Release)/ }).count()).toBe(0);
      await close();
    });
  });

  describe('a server that is away for a while', () => {
    it('is told in a banner that goes by itself, and nothing that was typed is lost', async () => {
      const visit = await console.open(LOOKS[0]!, '/budgets');
      const { page, takeProblems } = visit;
      await page.getByRole('button', { name: 'Edit: End to end' }).click();
      const field = page.getByLabel('Daily budget of End to end, in USD');
      await field.fill('88.5');
      await page.context().setOffline(true);
      await page.getByText('The server does not answer.').waitFor({ timeout: 30_000 });
      await page.context().setOffline(false);
      await page.getByText('The server does not answer.').waitFor({ state: 'detached', timeout: 30_000 });
      expect(await field.inputValue()).toBe('88.5');
      expect(takeProblems().filter((problem) => !problem.includes('ERR_INTERNET_DISCONNECTED'))).toEqual([]);
      await console.closeAll();
    });
  });
}
