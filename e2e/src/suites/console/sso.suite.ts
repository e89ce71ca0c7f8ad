import { beforeEach, describe, expect, it } from '@jest/globals';
import type { SsoProvider } from '@tollkeeper/sso-provider';
import type { Page } from 'playwright-core';
import { logIn } from '../../api.client.ts';
import { inOneLook, type useBrowser, type Look, LOOKS } from '../../browser.ts';
import { fillLogIn, rowOf } from '../../console/person.ts';
import type { Stage } from '../../deployment.ts';

const OWNERS = { groups: ['tollkeeper-owners'] };
const MEMBERS = { groups: ['tollkeeper-members'] };

export function describeConsoleSso(
  stage: Stage,
  browser: ReturnType<typeof useBrowser>,
  provider: () => SsoProvider,
): void {
  const verified = (name: string) => ({ email: `${name}@corp.test`, email_verified: true, name });

  /** Clicks on a provider's button, and there on a person's button. */
  async function logInAs(page: Page, person: string, button = 'Log in with Example'): Promise<void> {
    await page.getByRole('link', { name: button }).click();
    await page.getByRole('button', { name: person, exact: true }).click();
  }

  async function visitLogIn(look: Look, path = '/') {
    const visit = await browser.visit(look);
    await visit.page.goto(path);
    await visit.page.getByRole('heading', { name: 'Log in' }).waitFor();
    return visit;
  }

  describe.each(LOOKS)('a log-in by a provider, at $size size and $theme', (look) => {
    const name = `bob-${look.size}`;
    beforeEach(async () => {
      await provider().setFaults({});
      await provider().setPeople({ [name]: { ...verified(name), ...MEMBERS } });
    });

    it('comes back to the page that was asked for, with the role of the groups', async () => {
      const { page, expectFit, close } = await visitLogIn(look, '/w/demo/spend?range=3m');
      await expectFit();
      await logInAs(page, name);
      await page.getByRole('heading', { level: 1, name: 'Spend' }).waitFor();
      expect(page.url()).toMatch(/\/w\/demo\/spend\?range=3m$/);
      await page.goto('/w/demo/members');
      await page.getByRole('main').getByText('owner').first().waitFor();
      expect(await page.getByRole('combobox', { name: /^Role of/ }).count()).toBe(0);
      await close();
    });

    inOneLook(look)('follows the groups both ways', async () => {
      await provider().setPeople({ [name]: { ...verified(name), ...OWNERS } });
      const raised = await visitLogIn(look, '/w/demo/members');
      await logInAs(raised.page, name);
      await rowOf(raised.page, `${name}@corp.test`).getByRole('combobox').waitFor();
      expect(await rowOf(raised.page, `${name}@corp.test`).getByRole('combobox').inputValue()).toBe('owner');
      await raised.close();

      await provider().setPeople({ [name]: { ...verified(name), groups: [] } });
      const out = await visitLogIn(look);
      await logInAs(out.page, name);
      await out.page.waitForURL(/\/new-workspace$/);
      await out.close();
    });

    it('that is cancelled says so, with the provider’s words as text, and the id of the request', async () => {
      const { page, expectFit, close } = await visitLogIn(look);
      await logInAs(page, 'Cancel');
      await page.getByText('The provider denied the login.').waitFor();
      await page.getByText('The log-in was cancelled <b>here</b>.').waitFor();
      await page.getByText(/^req_/).waitFor();
      await expectFit();
      await page.getByRole('link', { name: 'Back to login' }).click();
      await page.getByRole('heading', { name: 'Log in' }).waitFor();
      await close();
    });

    it('by a provider that is down says why, and the password works', async () => {
      const { page, expectFit, close } = await visitLogIn(look);
      await page.getByRole('link', { name: 'Log in with one that is away' }).click();
      await page.getByText('The provider is unreachable.').waitFor();
      await page.getByText('ECONNREFUSED').waitFor();
      await expectFit();
      await page.getByRole('link', { name: 'Back to login' }).click();
      await fillLogIn(page, stage.deployment().owner);
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
      await close();
    });

    it('names the issuer that is set and the one that answers, and clocks that differ', async () => {
      const { page, expectFit, close } = await visitLogIn(look);
      await page.getByRole('link', { name: 'Log in with another name' }).click();
      await page.getByText('The provider’s issuer differs from the configured one.').waitFor();
      await page.getByText(provider().issuer, { exact: true }).waitFor();
      await page.getByText(provider().issuer.replace('127.0.0.1', 'localhost'), { exact: true }).waitFor();
      await expectFit();
      await page.getByRole('link', { name: 'Back to login' }).click();
      await provider().setFaults({ clockSeconds: -10_800 });
      await logInAs(page, name);
      await page.getByText('The provider’s clock is 3 h behind Tollkeeper’s.').waitFor();
      await close();
    });

    inOneLook(look)('works once: going back to its address leads nowhere', async () => {
      const { page, expectFit, close } = await visitLogIn(look);
      const addresses: string[] = [];
      page.on('request', (request) => {
        if (request.url().includes('/callback?')) addresses.push(request.url());
      });
      await logInAs(page, name);
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
      await page.goto(addresses[0] ?? '');
      await page.getByText('This login has expired').waitFor();
      await expectFit();
      await close();
    });

    inOneLook(look)('leads nowhere else, whatever the address of the log-in says', async () => {
      for (const next of ['https://evil.example', '//evil.example', '/\\evil.example', '/\t/evil.example']) {
        const { page, close } = await visitLogIn(look, `/login?next=${encodeURIComponent(next)}`);
        await logInAs(page, name);
        await page.waitForURL(/\/w\/demo/);
        await close();
      }
      const { page, takeProblems, close } = await visitLogIn(look, '/login');
      await page.goto(`/login/done?next=${encodeURIComponent('//evil.example')}`);
      await page.getByRole('heading', { name: 'Log in' }).waitFor();
      expect(new URL(page.url()).origin).toBe(stage.deployment().baseUrl);
      // The person had no session.
      expect(takeProblems().filter((problem) => !problem.includes('401'))).toEqual([]);
      await close();
    });

    inOneLook(look)('continues in two tabs, each of which ends where it began', async () => {
      const { page, close } = await visitLogIn(look, '/w/demo/spend');
      const other = await page.context().newPage();
      await other.goto('/w/demo/agents');
      await page.getByRole('link', { name: 'Log in with Example' }).click();
      await other.getByRole('link', { name: 'Log in with Example' }).click();
      await page.getByRole('button', { name, exact: true }).click();
      await page.getByRole('heading', { level: 1, name: 'Spend' }).waitFor();
      await other.getByRole('button', { name, exact: true }).click();
      await other.getByRole('heading', { level: 1, name: 'Agents' }).waitFor();
      await close();
    });

    it('asks for the password of an account that was there before, once', async () => {
      const { owner } = stage.deployment();
      const person = `owner-${look.size}`;
      // The first look links the owner's account; by the second one, its e-mail is verified.
      await provider().setPeople({ [person]: { email: owner.email, email_verified: true, name: 'Owner', ...OWNERS } });
      const { page, expectFit, takeProblems, close } = await visitLogIn(look);
      await logInAs(page, person);
      if (look === LOOKS[0]) {
        await page.getByRole('heading', { name: 'Do you have an account?' }).waitFor();
        await expectFit();
        await page.getByLabel('Account password').fill('not-the-password');
        await page.getByRole('button', { name: 'Link account' }).click();
        await page.getByText('Wrong login name or password.').waitFor();
        expect(takeProblems().filter((problem) => !problem.includes('401'))).toEqual([]);
        await page.getByLabel('Account password').fill(owner.password);
        await page.getByRole('button', { name: 'Link account' }).click();
      }
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
      await close();
      const later = await visitLogIn(look);
      await logInAs(later.page, person);
      await later.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
      await later.close();
    });

    inOneLook(look)('gives an account of one’s own to whoever has none', async () => {
      const person = 'new';
      await provider().setPeople({ [person]: { email: `${person}@corp.test`, name: person, ...MEMBERS } });
      const { page, close } = await visitLogIn(look);
      await logInAs(page, person);
      await page.getByRole('button', { name: 'I don’t have an account' }).click();
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
      await close();
    });

    it('is explained to owners on the page of members', async () => {
      const visit = await visitLogIn(look);
      await logInAs(visit.page, name);
      await visit.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
      await visit.close();
      const owner = await logIn(stage.deployment(), stage.deployment().owner);
      const { page, expectFit, close } = await browser.visit(look, owner);
      await page.goto('/w/demo/members');
      await page.getByRole('button', { name: `Single sign-on of ${name}` }).click();
      const dialog = page.getByRole('dialog', { name: `Single sign-on of ${name}` });
      await dialog.getByText('member, because groups contains tollkeeper-*').waitFor();
      await dialog.getByText('tollkeeper-members', { exact: true }).waitFor();
      await expectFit();
      await close();
    });
  });
}
