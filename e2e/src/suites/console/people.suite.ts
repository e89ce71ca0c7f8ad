import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from '@jest/globals';
import { inOneLook, LOOKS } from '../../browser.ts';
import { eventually } from '@tollkeeper/testing';
import type { Page } from 'playwright-core';
import { anonymous, logIn } from '../../api.client.ts';
import { passUntil } from '../../console/page.clock.ts';
import { cardOf, fillLogIn, rowOf, tabTo, undo } from '../../console/person.ts';
import type { useWorkspaceInBrowser } from '../../console/workspace.stage.ts';
import type { Stage } from '../../deployment.ts';
import { spendSettled } from '../../events.ts';
import { rememberedPassword, rememberSecret } from '../../secrets.ts';
import { acceptance, invite, newKey, newWorkspace, reportEvents } from '../../workspace.ts';

const LONG_LABEL = `team=${'long'.repeat(32)}`;

interface Account {
  workspaces: { id: string; slug: string }[];
}

export function describeConsolePeople(stage: Stage, console: ReturnType<typeof useWorkspaceInBrowser>): void {
  describe.each(LOOKS)('keys, members and settings, at $size size and $theme', (look) => {
    afterEach(() => console.closeAll());

    it('a new key is shown once, its command posts a first event that the page sees, its labels change, and it is revoked', async () => {
      const name = `gateway ${look.size}`;
      const { page, expectFit } = await console.open(look, '/keys');
      // Only the keyboard is used up to the first event.
      await page.getByRole('button', { name: 'New key' }).press('Enter');
      await page.getByLabel('Name').focus();
      await page.keyboard.type(name);
      const form = page.getByRole('dialog', { name: 'New key' });
      await tabTo(page, form.getByLabel('Labels'));
      await page.keyboard.type('team=growth\nenv');
      await tabTo(page, form.getByRole('button', { name: 'New key' }));
      await page.keyboard.press('Enter');
      await form.getByText('Line 2: Enter a name, “=” and a value').waitFor();
      await expectFit();
      await form.getByLabel('Labels').focus();
      await page.keyboard.type('=prod');
      await tabTo(page, form.getByRole('button', { name: 'New key' }));
      await page.keyboard.press('Enter');
      const dialog = page.getByRole('dialog', { name: `Key ${name}` });
      const key = (await dialog.getByText(/^ws_live_/).textContent()) ?? '';
      rememberSecret(key);
      await dialog.getByText('Waiting for the first request').waitFor();
      await expectFit();
      // The key is shown only once, so no keypress closes the dialog.
      for (const pressed of ['Escape', 'Escape', 'Control+k']) await page.keyboard.press(pressed);
      await page.getByRole('button', { name: 'Copy command' }).press('Enter');
      const command = await page.evaluate<string>('navigator.clipboard.readText()');
      expect(await sh(command)).toContain('"accepted":1');
      await dialog.getByText('The key works').waitFor();
      await page.getByRole('button', { name: 'I have copied the key' }).press('Enter');
      expect(await page.content()).not.toContain(key);
      await rowOf(page, name).getByText('active').waitFor();
      await rowOf(page, name).getByText('never').waitFor({ state: 'detached' });
      if (look.size === 'desktop') await rowOf(page, name).getByText('developer').waitFor();
      expect(await labelsOf(page, name)).toEqual(look.size === 'desktop' ? ['env=prod', 'team=growth'] : []);
      await rowOf(page, name)
        .getByRole('button', { name: `Edit labels of ${name}` })
        .click();
      const labels = page.getByRole('dialog', { name: `Edit labels of ${name}` });
      await labels.getByText('a call can’t override them').waitFor();
      expect(await labels.getByLabel('Labels').inputValue()).toBe('env=prod\nteam=growth');
      await labels.getByLabel('Labels').fill(LONG_LABEL);
      await labels.getByRole('button', { name: 'Save' }).click();
      await page.getByText(`Labels of ${name} saved`).waitFor();
      expect(await labelsOf(page, name)).toEqual(look.size === 'desktop' ? [LONG_LABEL] : []);
      await expectFit();
      await rowOf(page, name)
        .getByRole('button', { name: /^Revoke/ })
        .click();
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
      await rowOf(page, name).getByText('revoked').waitFor();
    });

    it('somebody is invited by a link that is shown once, makes an account with it, gets another role, and is removed', async () => {
      const email = `${look.size}@people.example.com`;
      const person = `Ada of ${look.size}`;
      const { page, expectFit } = await console.open(look, '/members');
      await page.getByRole('button', { name: 'Invite member' }).press('Enter');
      const dialog = page.getByRole('dialog', { name: 'Invite member' });
      await dialog.getByLabel('E-mail').fill(email);
      await dialog.getByLabel('Role').selectOption('admin');
      await dialog.getByText('Can also see reservations, and manage alerts').waitFor();
      await expectFit();
      await page.keyboard.press('Enter');
      const shown = page.getByRole('dialog', { name: 'Share the link' });
      const link = (await shown.locator('code').textContent()) ?? '';
      rememberSecret(new URL(link).hash.slice(1));
      await expectFit();
      // The link is shown only once, so no keypress closes the dialog.
      await page.keyboard.press('Escape');
      await shown.getByRole('button', { name: 'I have copied the link' }).press('Enter');
      await rowOf(page, email).getByText('Admin').waitFor();
      expect(await page.content()).not.toContain(link);

      const guest = await console.browser.visit(look);
      await guest.page.goto(link);
      await guest.page.getByRole('heading', { name: 'Join End to end' }).waitFor();
      await guest.expectFit();
      await guest.page.getByLabel('Your name').fill(person);
      await guest.page.getByLabel('Password').fill(rememberedPassword());
      await guest.page.keyboard.press('Enter');
      await guest.page.getByRole('heading', { name: 'You have joined' }).waitFor();
      await guest.expectFit();
      await guest.page.getByRole('button', { name: 'Go to End to end' }).press('Enter');
      await guest.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();

      // The link works once.
      const late = await console.browser.visit(look);
      await late.page.goto(link);
      await late.page.getByText('This invitation is not valid').waitFor();
      await late.expectFit();
      late.takeProblems();
      await late.close();

      await rowOf(page, person).getByRole('combobox').selectOption('member');
      await page.getByText('changed to member').waitFor();
      await rowOf(page, person)
        .getByRole('button', { name: /^Remove/ })
        .click();
      await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
      await rowOf(page, person).waitFor({ state: 'detached' });
      guest.takeProblems();
      await guest.close();
    });

    it('who has an account logs in on the way and joins with it, and leaves again', async () => {
      const [mine, theirs] = [await newWorkspace(console.owner()), await newWorkspace(console.owner())];
      const token = await invite(console.owner(), mine, 'member');
      const password = rememberedPassword();
      const login_name = `guest-${look.size}-${Date.now()}`;
      const account = { name: 'Guest', password, login_name };
      await anonymous(stage.deployment()).expect(acceptance(await invite(console.owner(), theirs, 'member'), account));
      const { page, expectFit, takeProblems, close } = await console.browser.visit(look);
      await page.goto(`/invitation#${token}`);
      await page.getByRole('button', { name: 'I have an account' }).click();
      await fillLogIn(page, { email: login_name, password });
      await page.getByText(`You are logged in as Guest (${login_name}).`).waitFor();
      await expectFit();
      await page.getByRole('button', { name: 'Join', exact: true }).press('Enter');
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
      expect(page.url()).toContain(`/w/${mine.slug}`);
      await page.goto(`/w/${mine.slug}/settings`);
      await page.getByRole('button', { name: 'Leave this workspace' }).press('Enter');
      await page.getByRole('dialog').getByRole('button', { name: 'Leave', exact: true }).press('Enter');
      await page.waitForURL((url) => url.pathname === `/w/${theirs.slug}`);
      expect(takeProblems()).toEqual([]);
      await close();
    });

    it('own sessions are listed, and another one is ended', async () => {
      const account = { name: 'Guest', password: rememberedPassword(), login_name: `own-${look.size}-${Date.now()}` };
      const token = await invite(console.owner(), console.workspace(), 'member');
      await anonymous(stage.deployment()).expect(acceptance(token, account));
      const named = { email: account.login_name, password: account.password };
      const other = await logIn(stage.deployment(), named);
      await other.expect({ method: 'DELETE', path: '/api/v1/auth/sessions', status: 204 });
      const { page, expectFit, close } = await console.browser.visit(look, other);
      await page.goto(`/w/${console.workspace().slug}/settings`);
      const sessions = page.getByRole('table', { name: 'Your sessions' });
      await sessions.getByText('current').waitFor();
      expect(await sessions.getByRole('button').count()).toBe(0);
      const again = await logIn(stage.deployment(), named);
      await page.reload();
      await sessions.getByText('current').waitFor();
      await expectFit();
      await sessions.getByRole('button', { name: /^End the session of/ }).press('Enter');
      await page.getByText('Session ended').waitFor();
      await sessions.getByRole('button').waitFor({ state: 'detached' });
      await eventually(async () => expect((await again.call({ path: '/api/v1/auth/me' })).status).toBe(401));
      await close();
    });

    it('a link to reset a password that is not valid says so', async () => {
      const { page, expectFit, takeProblems, close } = await console.browser.visit(look);
      await page.goto(`/reset#tk_reset_${'x'.repeat(43)}`);
      await page.getByRole('heading', { name: 'Set a new password' }).waitFor();
      await expectFit();
      await page.getByLabel('New password').fill('qwerty123456');
      await page.keyboard.press('Enter');
      await page.getByText('is one of the most common passwords').waitFor();
      await page.getByLabel('New password').fill(rememberedPassword());
      await page.keyboard.press('Enter');
      await page.getByText('This link is not valid').waitFor();
      await expectFit();
      expect(takeProblems().filter((problem) => !/\b40[04]\b/.test(problem))).toEqual([]);
      await close();
    });

    inOneLook(look)(
      'a role is taken back from the toast, also one that was confirmed, and from another page',
      async () => {
        const name = 'undo';
        const email = `${name}@people.example.com`;
        const path = console.workspace().path('/members');
        const account = { name, password: rememberedPassword() };
        const token = await invite(console.owner(), console.workspace(), 'admin', email);
        await anonymous(stage.deployment()).expect(acceptance(token, account));
        const stored = async () => {
          const { items } = await console.owner().expect<{ items: { email: string; role: string }[] }>({ path });
          return items.find((each) => each.email === email)?.role;
        };
        const { page } = await console.open(look, '/members');
        const role = rowOf(page, email).getByRole('combobox', { name: `Role of ${name}` });
        await role.selectOption('member');
        await undo(page, `Role of ${name} changed to member`);
        await page.getByText(`Role of ${name} changed to admin`).waitFor();
        expect(await stored()).toBe('admin');

        await page.reload();
        await role.selectOption('owner');
        const warning = page.getByRole('dialog', { name: `Make ${name} owner` });
        await warning.getByText('They can see or change more from now on.').waitFor();
        await warning.getByRole('button', { name: 'Cancel' }).click();
        expect([await role.inputValue(), await stored()]).toEqual(['admin', 'admin']);
        await role.selectOption('owner');
        await warning.getByRole('button', { name: 'Change role' }).click();
        await page.getByText(`Role of ${name} changed to owner`).waitFor();
        expect(await stored()).toBe('owner');
        await undo(page, `Role of ${name} changed to owner`);
        await page.getByText(`Role of ${name} changed to admin`).waitFor();
        expect([await role.inputValue(), await stored()]).toEqual(['admin', 'admin']);
        // An undone change can be repeated in the same way.
        await undo(page, `Role of ${name} changed to admin`);
        await page.getByText(`Role of ${name} changed to owner`).waitFor();
        expect(await stored()).toBe('owner');

        await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Keys' }).click();
        await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor();
        await undo(page, `Role of ${name} changed to owner`);
        await page.getByText(`Role of ${name} changed to admin`).waitFor();
        expect(await stored()).toBe('admin');
      },
    );

    it('a new workspace says what to do next, and checks it off', async () => {
      const { page, expectFit } = await console.begin(look);
      await page.clock.install();
      await page.goto('/new-workspace');
      const slug = `fresh-${look.size}-${Date.now()}`;
      await page.getByLabel('Name').fill('Fresh');
      await page.getByLabel('Address').fill(slug);
      await expectFit();
      await page.getByRole('button', { name: 'Create workspace' }).click();
      await page.getByText('Set up this workspace').waitFor();
      const step = page.getByRole('listitem').filter({ hasText: 'Set a budget' });
      expect(await step.getByText('done').count()).toBe(0);
      await step.getByRole('link').click();
      await page.getByRole('button', { name: 'Set budget: Fresh' }).click();
      await page.getByLabel('Daily budget of Fresh, in USD').fill('5');
      await page.keyboard.press('Enter');
      await page.getByText('Budget of Fresh set to $5.00').waitFor();
      await page.goto(`/w/${slug}`);
      await step.getByText('done').waitFor();

      // Steps that others complete are checked off automatically.
      const steps = page
        .getByRole('listitem')
        .filter({ has: page.getByRole('link', { name: /^(Create|Send|Set) an? / }) });
      const done = () => steps.filter({ hasText: 'done' }).getByRole('link').allTextContents();
      expect(await done()).toEqual(['Set a budget']);
      const { api_key } = await newKey(console.owner(), slug, 'developer');
      await passUntil(page, async () => expect(await done()).toEqual(['Create a key', 'Set a budget']));
      await reportEvents(stage.deployment(), api_key, spendSettled({ amountMicros: 1 }));
      await passUntil(page, async () =>
        expect(await done()).toEqual(['Create a key', 'Send a first event', 'Set a budget']),
      );
      const account = await console.owner().expect<Account>({ path: '/api/v1/auth/me' });
      const scope_id = account.workspaces.find((each) => each.slug === slug)?.id;
      await console.owner().expect({
        method: 'POST',
        path: `/w/${slug}/api/v1/alerts/rules`,
        body: {
          ...{ name: 'Often', severity: 'high', scope_type: 'workspace', scope_id },
          rule_kind: 'event_count_gte',
          rule_config: { window_seconds: 600, threshold: 1, filters: { event_types: ['budget.blocked'] } },
        },
        status: 201,
      });
      await passUntil(page, async () => expect(await done()).toHaveLength(4));
      await page.reload();
      await page.getByRole('heading', { name: 'Top agents' }).waitFor();
      expect(await page.getByText('Set up this workspace').count()).toBe(0);
    });
  });

  describe('members and settings', () => {
    afterEach(() => console.closeAll());

    it('an invitation is revoked', async () => {
      const email = `revoked@people.example.com`;
      await invite(console.owner(), console.workspace(), 'member', email);
      const { page } = await console.open(LOOKS[0]!, '/members');
      await rowOf(page, email)
        .getByRole('button', { name: `Revoke the invitation of ${email}` })
        .press('Enter');
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).press('Enter');
      await page.getByText(`Invitation of ${email} revoked`).waitFor();
      await rowOf(page, email).waitFor({ state: 'detached' });
    });

    it('the name and the zone of the workspace are changed, and a zone that is none is refused', async () => {
      const workspace = await newWorkspace(console.owner());
      const { page } = await console.open(LOOKS[0]!, '/settings', workspace);
      await page.getByLabel('Time zone').fill('Mars/Olympus');
      await page.getByText('Unknown time zone.').waitFor();
      await page.getByLabel('Time zone').fill('Asia/Kathmandu');
      await page.getByLabel('Name').fill('Renamed');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Settings saved').waitFor();
      await page.getByRole('button', { name: 'Renamed Asia/Kathmandu' }).waitFor();
      await page.reload();
      expect(await page.getByLabel('Time zone').inputValue()).toBe('Asia/Kathmandu');
      expect(await page.getByLabel('Name').inputValue()).toBe('Renamed');
    });

    it('an owner sets up scheduled exports, whose secret is not in any log', async () => {
      const { page } = await console.open(LOOKS[0]!, '/settings', await newWorkspace(console.owner()));
      await page.getByRole('button', { name: 'Set up' }).press('Enter');
      const dialog = page.getByRole('dialog');
      const secret = `s3-${randomUUID()}`;
      rememberSecret(secret);
      await dialog.getByLabel('Endpoint').fill('https://bucket.invalid');
      await dialog.getByLabel('Bucket').fill('finance');
      await dialog.getByLabel('Access key ID').fill('AKIAEXAMPLE');
      await dialog.getByLabel('Secret access key').fill(secret);
      await dialog.getByRole('button', { name: 'Save' }).press('Enter');
      await cardOf(page, 'Scheduled exports').getByText('finance at bucket.invalid').waitFor();
    });
  });
}

/** The labels of a key that its row shows. */
function labelsOf(page: Page, key: string): Promise<string[]> {
  return rowOf(page, key).getByRole('listitem').allTextContents();
}

/** The output of a shell for a command that a person has pasted. */
async function sh(command: string): Promise<string> {
  const child = spawn('bash', ['-c', command], { stdio: ['ignore', 'pipe', 'ignore'] });
  return text(child.stdout);
}
