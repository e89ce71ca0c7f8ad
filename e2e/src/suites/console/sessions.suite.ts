import { afterEach, describe, expect, it } from '@jest/globals';
import { logIn } from '../../api.client.ts';
import { LOOKS } from '../../browser.ts';
import { eventually } from '@tollkeeper/testing';
import { passUntil } from '../../console/page.clock.ts';
import { cardOf, fillLogIn, rowOf } from '../../console/person.ts';
import type { useWorkspaceInBrowser } from '../../console/workspace.stage.ts';
import type { Stage } from '../../deployment.ts';
import { spendSettled } from '../../events.ts';
import { newMember, newWorkspace, reportEvents } from '../../workspace.ts';

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
      await page.getByText('Wrong login name or password.').waitFor();
      expect(takeProblems()).toEqual(['401 /api/v1/auth/login', expect.stringContaining('401')]);
      await fillLogIn(page, owner);
      await page.getByRole('heading', { level: 1, name: 'Budgets' }).waitFor();
      expect(page.url()).toMatch(/\/budgets\?range=3m$/);
      await close();
    });

    it('ends with the log-out, and the pages are behind the log-in again', async () => {
      const user = await logIn(stage.deployment(), stage.deployment().owner);
      const { page, close } = await console.browser.visit(look, user);
      await page.goto(`/w/${console.workspace().slug}`);
      if (look.size === 'phone') await page.getByRole('button', { name: 'Menu' }).click();
      await page.getByRole('button', { name: 'Log out' }).click();
      await page.getByRole('heading', { name: 'Log in' }).waitFor();
      await page.goto(`/w/${console.workspace().slug}/keys`);
      await page.getByRole('heading', { name: 'Log in' }).waitFor();
      await close();
    });
  });

  describe('a session', () => {
    afterEach(() => console.closeAll());

    it('begins by keyboard alone', async () => {
      const { page, close } = await console.browser.visit(LOOKS[0]!);
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
      const stranger = await newMember(stage.deployment(), console.owner(), others, 'owner');
      const { page, close } = await console.browser.visit(LOOKS[0]!, stranger);
      await page.goto(`/w/${console.workspace().slug}/spend`);
      await page.getByText('Page not found').waitFor();
      expect(await page.content()).not.toContain('planner');
      await close();
    });

    it('leads nowhere else after the log-in, whatever its address says', async () => {
      const { page, close } = await console.browser.visit(LOOKS[0]!);
      for (const next of ['https://evil.example', '//evil.example', '/\\evil.example']) {
        await page.goto('about:blank');
        await page.context().clearCookies();
        await page.goto(`/login?next=${encodeURIComponent(next)}`);
        await fillLogIn(page, stage.deployment().owner);
        await page.waitForURL(/\/w\//);
        expect(new URL(page.url()).origin).toBe(stage.deployment().baseUrl);
      }
      await close();
    });

    it('that ends asks for the password over the page, and nothing that was typed is lost', async () => {
      const { page, takeProblems } = await console.begin(LOOKS[0]!);
      await page.clock.install();
      await page.goto(`/w/${console.workspace().slug}/budgets`);
      await page.getByRole('button', { name: 'Edit: Workspace' }).click();
      const field = page.getByLabel('Limit of Workspace, in USD');
      await field.fill('77.25');
      await page.context().clearCookies();
      const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
      await passUntil(page, async () => expect(await dialog.count()).toBe(1));
      await dialog.getByLabel('Password').fill(stage.deployment().owner.password);
      await dialog.getByRole('button', { name: 'Log in' }).click();
      await dialog.waitFor({ state: 'detached' });
      expect(await field.inputValue()).toBe('77.25');
      // Every request without a session, and nothing else.
      expect(takeProblems().filter((problem) => !problem.includes('401'))).toEqual([]);
    });

    it('changes no password for a wrong one, and none once it has ended; what was typed stays', async () => {
      const { page, takeProblems } = await console.begin(LOOKS[0]!);
      await page.goto(`/w/${console.workspace().slug}/settings`);
      const next = page.getByLabel('New password');
      await page.getByLabel('Current password').fill('not-the-password');
      await next.fill('of-more-than-12-characters');
      await page.getByRole('button', { name: 'Change password' }).click();
      await page.getByText('The current password is wrong.').waitFor();
      await page.context().clearCookies();
      await page.getByRole('button', { name: 'Change password' }).click();
      const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
      await dialog.getByLabel('Password').fill(stage.deployment().owner.password);
      await dialog.getByRole('button', { name: 'Log in' }).click();
      await dialog.waitFor({ state: 'detached' });
      expect(await next.inputValue()).toBe('of-more-than-12-characters');
      expect(takeProblems().filter((problem) => !/\b40[01]\b/.test(problem))).toEqual([]);
    });
  });

  describe('a server that is down for a while', () => {
    afterEach(() => console.closeAll());

    it('is reported in a banner that disappears automatically, and what is typed meanwhile stays and is saved', async () => {
      const { page, takeProblems } = await console.open(LOOKS[0]!, '/budgets');
      await page.getByRole('button', { name: 'Edit: Workspace' }).click();
      const field = page.getByLabel('Limit of Workspace, in USD');
      const shown = () => page.getByRole('main').innerText();
      await field.fill('88.5');
      await page.getByRole('table', { name: 'Changes' }).waitFor();
      const before = await shown();
      await stage.deployment().end('SIGTERM');
      try {
        await page.getByText('Figures may be out of date.').waitFor({ timeout: 30_000 });
        expect(withoutTimes(await shown())).toBe(withoutTimes(before));
        await field.fill('88.75');
        await page.keyboard.press('Enter');
        await page.getByText('Nothing you typed is lost.').waitFor();
      } finally {
        await stage.deployment().start();
      }
      await page.getByText('Figures may be out of date.').waitFor({ state: 'detached', timeout: 30_000 });
      expect(await field.inputValue()).toBe('88.75');
      await field.press('Enter');
      await page.getByText('Budget of Workspace set to $88.75').waitFor();
      await page.getByRole('button', { name: 'Undo' }).click();
      await page.getByText('Budget of Workspace set to $50.00').waitFor();
      // Requests to a server that was stopping, down or starting; no faults of the page.
      const outage = /ERR_CONNECTION_|ERR_EMPTY_RESPONSE|ERR_INCOMPLETE|\b50[234]\b/;
      expect(takeProblems().filter((problem) => !outage.test(problem))).toEqual([]);
    });
  });

  describe('what the server refuses', () => {
    afterEach(() => console.closeAll());

    it('is reported in its place, with the id of the request, and can be retried', async () => {
      const { page, takeProblems, expectFit } = await console.begin(LOOKS[0]!);
      await page.goto(`/w/${console.workspace().slug}/blocked`);
      const details = '**/dashboard/budget-blocked/details?*';
      await page.route(details, (route, request) =>
        route.continue({ url: request.url().replace(/timezone=[^&]+/, 'timezone=Mars') }),
      );
      const answer = page.waitForResponse(details);
      await page.getByRole('table', { name: 'By a budget' }).getByRole('button').first().click();
      const requestId = (await answer).headers()['x-request-id'] ?? 'none';
      const failed = page.getByRole('dialog', { name: 'Blocked call' }).getByRole('alert');
      await failed.getByText('Loading failed').waitFor();
      await failed.getByText(`Request ${requestId}`).waitFor();
      await expectFit();
      await page.unroute(details);
      await failed.getByRole('button', { name: 'Try again' }).press('Enter');
      await page.getByText('How to unblock it').waitFor();
      expect(takeProblems().filter((problem) => !problem.includes('400'))).toEqual([]);
    });

    it('is reported in the form that was sent, with the id of the request, and what was typed stays', async () => {
      const { page, takeProblems, expectFit } = await console.open(LOOKS[0]!, '/agents');
      await page.getByRole('button', { name: 'New agent' }).click();
      const form = page.getByRole('dialog', { name: 'New agent' });
      await form.getByLabel('Id').fill('planner');
      await form.getByLabel('Name').fill('Planner');
      const answer = page.waitForResponse((response) => response.request().method() === 'POST');
      await form.getByRole('button', { name: 'New agent' }).click();
      const requestId = (await answer).headers()['x-request-id'] ?? 'none';
      await form.getByRole('alert').getByText(`Request ${requestId}`).waitFor();
      await expectFit();
      expect(await form.getByLabel('Id').inputValue()).toBe('planner');
      expect(takeProblems().filter((problem) => !problem.includes('409'))).toEqual([]);
    });
  });

  describe('a change that is in progress', () => {
    afterEach(() => console.closeAll());

    it('is shown on its button, which sends it once', async () => {
      const { page } = await console.begin(LOOKS[0]!);
      await page.goto(`/w/${console.workspace().slug}/agents`);
      const held = Promise.withResolvers<void>();
      let sent = 0;
      await page.route('**/api/v1/agents', async (route, request) => {
        if (request.method() === 'POST') {
          sent += 1;
          await held.promise;
        }
        await route.continue();
      });
      await page.getByRole('button', { name: 'New agent' }).click();
      const form = page.getByRole('dialog', { name: 'New agent' });
      await form.getByLabel('Id').fill('once');
      await form.getByLabel('Labels').fill('team=growth');
      await form.getByLabel('Name').fill('Once');
      await page.keyboard.press('Enter');
      const saving = form.getByRole('button', { name: 'Saving' });
      await saving.waitFor();
      await page.keyboard.press('Enter');
      await saving.click({ force: true });
      held.resolve();
      await page.getByText('Agent Once added').waitFor();
      expect(sent).toBe(1);
      await page.getByRole('link', { name: 'Once' }).click();
      await cardOf(page, 'Labels').getByRole('listitem').getByText('team=growth').waitFor();
    });
  });

  describe('a tab that is hidden', () => {
    afterEach(() => console.closeAll());

    it('asks for nothing until it is shown again, and shows then what is new', async () => {
      const workspace = await newWorkspace(console.owner());
      const { page } = await console.begin(LOOKS[0]!);
      // Counted in the page, because the browser reports a request some time later.
      await page.addInitScript(`{
        const ask = fetch;
        globalThis.asked = 0;
        globalThis.unanswered = 0;
        globalThis.fetch = async (...call) => {
          globalThis.asked += 1;
          globalThis.unanswered += 1;
          try {
            const answer = await ask(...call);
            await answer.clone().arrayBuffer();
            return answer;
          } finally {
            globalThis.unanswered -= 1;
          }
        };
      }`);
      // The test controls the page's clock, so a minute passes at once.
      await page.clock.install();
      await page.goto(`/w/${workspace.slug}`);
      await page.getByText('No spend in this time range').waitFor();
      const asked = () => page.evaluate<number>('asked');
      const before = await asked();
      await page.clock.runFor(10_000);
      expect(await asked()).toBeGreaterThan(before);

      await page.evaluate(become('hidden'));
      // Lets requests in flight finish, which would otherwise be repeated in the following minute.
      await eventually(async () => expect(await page.evaluate('unanswered')).toBe(0));
      const hidden = await asked();
      await reportEvents(
        stage.deployment(),
        workspace.apiKey,
        spendSettled({ agentId: 'unseen', amountMicros: 1_000_000 }),
      );
      await page.clock.runFor(60_000);
      expect(await asked()).toBe(hidden);
      await page.evaluate(become('visible'));
      await rowOf(page, 'unseen').getByText('$1.00').waitFor();
    });
  });
}

/** The last suite on a standalone: after it, nobody can log in from this address for 15 minutes. */
export function describeConsoleTooManyLogIns(console: ReturnType<typeof useWorkspaceInBrowser>): void {
  describe.each(LOOKS)('too many log-ins that failed, at $size size and $theme', (look) => {
    it('are refused with the time to wait, which counts down, and after which the next one is let through', async () => {
      const { page, takeProblems, expectFit, close } = await console.browser.visit(look);
      await page.clock.install();
      await page.goto('/');
      let status = 401;
      let endsAt = 0;
      for (let attempt = 0; attempt < 12 && status === 401; attempt += 1) {
        const answer = page.waitForResponse('**/auth/login');
        await fillLogIn(page, { email: 'nobody@e2e.example.com', password: 'not-the-password' });
        const answered = await answer;
        status = answered.status();
        endsAt = Date.now() + Number(answered.headers()['retry-after']) * 1_000;
        await page
          .getByRole('alert')
          .getByText(/Wrong|Too many/)
          .waitFor();
      }
      expect(status).toBe(429);
      const wait = page.getByText(/^Too many attempts\. Try again in \d+ (min|s)\.$/);
      await wait.waitFor();
      const button = page.getByRole('button', { name: 'Log in' });
      expect(await button.isDisabled()).toBe(true);
      await expectFit();
      // From here on, the test controls the page's clock.
      await page.clock.pauseAt(endsAt - 10_000);
      const seconds = async () => Number(/ in (\d+) s\./.exec((await wait.textContent()) ?? '')?.[1]);
      await eventually(async () => expect(await seconds()).toBeLessThanOrEqual(11));
      for (let left = (await seconds()) - 1; left > 0; left -= 1) {
        await page.clock.runFor(1_000);
        await page.getByText(`Try again in ${left} s.`).waitFor();
      }
      expect(await button.isDisabled()).toBe(true);
      await page.clock.runFor(1_000);
      await wait.waitFor({ state: 'detached' });
      expect(await button.isEnabled()).toBe(true);
      expect(await page.getByRole('alert').textContent()).toBe('');
      expect(takeProblems().filter((problem) => !/\b4(01|29)\b/.test(problem))).toEqual([]);
      await close();
    });
  });
}

/** Removes text that changes with time: "5 s ago". */
function withoutTimes(shown: string): string {
  return shown.replace(/(in )?\d+ (s|min|h|d)\b( ago)?/g, 'then');
}

/** Simulates Chromium's change of a tab to hidden or visible. */
function become(state: 'hidden' | 'visible'): string {
  return `{
    Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
    Object.defineProperty(document, 'hidden', { value: ${state === 'hidden'}, configurable: true });
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
  }`;
}
