import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from '@jest/globals';
import { LOOKS } from '../../browser.ts';
import { rowOf, undo } from '../../console/person.ts';
import type { useWorkspaceInBrowser } from '../../console/workspace.stage.ts';
import { rememberSecret } from '../../secrets.ts';
import { newWorkspace } from '../../workspace.ts';

export function describeConsolePeople(console: ReturnType<typeof useWorkspaceInBrowser>): void {
  describe.each(LOOKS)('keys, members and settings, at $size size and $theme', (look) => {
    afterEach(() => console.closeAll());

    it('a new key is shown once, its command posts a first event that the page sees, and it is revoked', async () => {
      const name = `gateway ${look.size}`;
      const { page, expectFit } = await console.open(look, '/keys');
      // By keyboard alone up to the first event.
      await page.getByRole('button', { name: 'New key' }).press('Enter');
      await page.getByLabel('What it is for').focus();
      await page.keyboard.type(name);
      await page.keyboard.press('Enter');
      const dialog = page.getByRole('dialog', { name: `The key ${name}` });
      const key = (await dialog.getByText(/^ws_live_/).textContent()) ?? '';
      rememberSecret(key);
      await dialog.getByText('Waiting for the first request').waitFor();
      await expectFit();
      // It is not to be seen again, so no key takes it away.
      for (const pressed of ['Escape', 'Escape', 'Control+k']) await page.keyboard.press(pressed);
      await page.getByRole('button', { name: 'Copy the command' }).press('Enter');
      const command = await page.evaluate<string>('navigator.clipboard.readText()');
      expect(await sh(command)).toContain('"accepted":1');
      await dialog.getByText('The key works').waitFor();
      await page.getByRole('button', { name: 'I have copied the key' }).press('Enter');
      expect(await page.content()).not.toContain(key);
      await rowOf(page, name)
        .getByRole('button', { name: /^Revoke/ })
        .click();
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
      await rowOf(page, name).getByText('revoked').waitFor();
    });

    it('a member is added with a first password to hand over, gets another role, and is removed', async () => {
      const email = `${look.size}@people.example.com`;
      const { page, expectFit } = await console.open(look, '/members');
      await page.getByRole('button', { name: 'Add a member' }).click();
      const dialog = page.getByRole('dialog', { name: 'Add a member' });
      await dialog.getByLabel('E-mail').fill(email);
      await dialog.getByLabel('Role').selectOption('admin');
      await dialog.getByText('Also sees and changes alerts').waitFor();
      await expectFit();
      await dialog.getByRole('button', { name: 'Add a member' }).click();
      const password = page.getByRole('dialog', { name: 'Hand over the first password' });
      rememberSecret((await password.locator('code').textContent()) ?? '');
      await password.getByRole('button', { name: 'Close' }).click();
      await rowOf(page, email).getByRole('combobox').selectOption('member');
      await page.getByText('is member now.').waitFor();
      await rowOf(page, email)
        .getByRole('button', { name: /^Remove/ })
        .click();
      await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
      await rowOf(page, email).waitFor({ state: 'detached' });
    });

    it('a role is taken back from the toast, also one that was confirmed, and from another page', async () => {
      const email = `undo-${look.size}@people.example.com`;
      const name = `undo-${look.size}`;
      const path = console.workspace().path('/members');
      const body = { email, role: 'admin' };
      await console.owner().expect({ method: 'POST', path, body, status: 201 });
      const stored = async () => {
        const { items } = await console.owner().expect<{ items: { email: string; role: string }[] }>({ path });
        return items.find((each) => each.email === email)?.role;
      };
      const { page } = await console.open(look, '/members');
      const role = rowOf(page, email).getByRole('combobox', { name: `Role of ${name}` });
      await role.selectOption('member');
      await undo(page, `${name} is member now.`);
      await page.getByText(`${name} is admin now.`).waitFor();
      expect(await stored()).toBe('admin');

      await page.reload();
      await role.selectOption('owner');
      const warning = page.getByRole('dialog', { name: `Make ${name} owner` });
      await warning.getByText('They see and change more from now on.').waitFor();
      await warning.getByRole('button', { name: 'Cancel' }).click();
      expect([await role.inputValue(), await stored()]).toEqual(['admin', 'admin']);
      await role.selectOption('owner');
      await warning.getByRole('button', { name: 'Give the role' }).click();
      await page.getByText(`${name} is owner now.`).waitFor();
      expect(await stored()).toBe('owner');
      await undo(page, `${name} is owner now.`);
      await page.getByText(`${name} is admin now.`).waitFor();
      expect([await role.inputValue(), await stored()]).toEqual(['admin', 'admin']);
      // What was taken back is given again in the same way.
      await undo(page, `${name} is admin now.`);
      await page.getByText(`${name} is owner now.`).waitFor();
      expect(await stored()).toBe('owner');

      if (look.size === 'phone') await page.getByRole('button', { name: 'Menu' }).click();
      await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Keys' }).click();
      await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor();
      await undo(page, `${name} is owner now.`);
      await page.getByText(`${name} is admin now.`).waitFor();
      expect(await stored()).toBe('admin');
    });

    it('the name and the zone of the workspace are changed, and a zone that is none is refused', async () => {
      const workspace = await newWorkspace(console.owner());
      const { page } = await console.open(look, '');
      await page.goto(`/w/${workspace.slug}/settings`);
      await page.getByLabel('Time zone').fill('Mars/Olympus');
      await page.getByText('There is no such time zone.').waitFor();
      await page.getByLabel('Time zone').fill('Asia/Kathmandu');
      await page.getByLabel('Name').fill('Renamed');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('The settings are saved.').waitFor();
      if (look.size === 'desktop') await page.getByRole('button', { name: 'Renamed Asia/Kathmandu' }).waitFor();
      await page.reload();
      expect(await page.getByLabel('Time zone').inputValue()).toBe('Asia/Kathmandu');
      expect(await page.getByLabel('Name').inputValue()).toBe('Renamed');
    });

    it('a new workspace says what to do next, and checks it off', async () => {
      const { page, expectFit } = await console.open(look, '');
      await page.goto('/new-workspace');
      const slug = `fresh-${look.size}-${Date.now()}`;
      await page.getByLabel('Name').fill('Fresh');
      await page.getByLabel('Address').fill(slug);
      await expectFit();
      await page.getByRole('button', { name: 'Make the workspace' }).click();
      await page.getByText('Set this workspace up').waitFor();
      const step = page.getByRole('listitem').filter({ hasText: 'Set a budget' });
      expect(await step.getByText('done').count()).toBe(0);
      await step.getByRole('link').click();
      await page.getByRole('button', { name: 'Set a budget: Fresh' }).click();
      await page.getByLabel('Daily budget of Fresh, in USD').fill('5');
      await page.keyboard.press('Enter');
      await page.getByText('The budget of Fresh is $5.00 now.').waitFor();
      await page.goto(`/w/${slug}`);
      await step.getByText('done').waitFor();
    });
  });
}

/** What a shell prints for the command that a person has pasted into it. */
async function sh(command: string): Promise<string> {
  const child = spawn('bash', ['-c', command], { stdio: ['ignore', 'pipe', 'ignore'] });
  return text(child.stdout);
}
