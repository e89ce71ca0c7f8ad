import { afterEach, describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import { type MailServer, tokenIn } from '@tollkeeper/testing/mail-server';
import { LOOKS } from '../../browser.ts';
import { fillLogIn, rowOf } from '../../console/person.ts';
import type { useWorkspaceInBrowser } from '../../console/workspace.stage.ts';
import type { Stage } from '../../deployment.ts';
import { rememberedPassword } from '../../secrets.ts';

export function describeConsoleMail(
  stage: Stage,
  console: ReturnType<typeof useWorkspaceInBrowser>,
  mailServer: () => MailServer,
): void {
  describe.each(LOOKS)('mail, at $size size and $theme', (look) => {
    afterEach(() => console.closeAll());

    it('invites a person, who verifies the e-mail by it, and gets them back in when they forget their password', async () => {
      const email = `mailed-${look.size}@people.example.com`;
      const linkIn = (count: number) =>
        eventually(() => {
          const mails = mailServer().to(email);
          expect(mails).toHaveLength(count);
          return /^http\S+$/m.exec(mails.at(-1)!.text)![0];
        });
      const { page } = await console.open(look, '/members');
      await page.getByRole('button', { name: 'Invite member' }).press('Enter');
      await page.getByRole('dialog').getByLabel('E-mail').fill(email);
      await page.keyboard.press('Enter');
      await page.getByText('They also get a link by e-mail.').waitFor();
      await page.getByRole('button', { name: 'I have copied the link' }).press('Enter');

      const guest = await console.browser.visit(look);
      await guest.page.goto(await linkIn(1));
      await guest.page.getByLabel('Your name').fill('Ada');
      await guest.page.getByLabel('Password').fill(rememberedPassword());
      await guest.page.keyboard.press('Enter');
      await guest.page.getByRole('heading', { name: 'You have joined' }).waitFor();
      await guest.close();

      const later = await console.browser.visit(look);
      await later.page.goto('/login');
      await later.page.getByRole('link', { name: 'Forgot your password?' }).press('Enter');
      await later.page.getByRole('heading', { name: 'Forgot your password?' }).waitFor();
      await later.expectFit();
      await later.page.getByLabel('E-mail').fill(email);
      await later.page.keyboard.press('Enter');
      await later.page.getByRole('heading', { name: 'Check your e-mail' }).waitFor();
      await later.expectFit();
      await later.page.goto(await linkIn(2));
      const password = rememberedPassword();
      await later.page.getByLabel('New password').fill(password);
      await later.page.keyboard.press('Enter');
      await later.page.getByRole('heading', { name: 'Password set' }).waitFor();
      await later.expectFit();
      await later.page.getByRole('button', { name: 'Log in' }).press('Enter');
      await fillLogIn(later.page, { email, password });
      await later.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
      await later.close();

      const logs = stage.deployment().logs();
      for (const mail of mailServer().to(email)) expect(logs).not.toContain(tokenIn(mail).slice(-20));
    });

    it('sends alerts to an address once its reader, who has no account, confirms it, and until the reader stops them', async () => {
      const address = `reader-${look.size}@people.example.com`;
      const name = `Readers ${look.size}`;
      const linkIn = (count: number) =>
        eventually(() => {
          const mails = mailServer().to(address);
          expect(mails).toHaveLength(count);
          return /^http\S+#\S+$/m.exec(mails.at(-1)!.text)![0];
        });
      const { page, expectFit } = await console.open(look, '/channels');
      await page.getByRole('button', { name: 'New channel' }).press('Enter');
      const form = page.getByRole('dialog', { name: 'New channel' });
      await form.getByLabel('Type').selectOption('E-mail');
      await form.getByLabel('Name').fill(name);
      await form.getByLabel('Addresses').fill(address);
      await expectFit();
      await form.getByRole('button', { name: 'Save' }).press('Enter');
      await page.getByText(`Channel ${name} saved`).waitFor();

      const reader = await console.browser.visit(look);
      await reader.page.goto(await linkIn(1));
      await reader.page.getByText('wants to send its alerts to this address.').waitFor();
      await reader.expectFit();
      await rowOf(page, name).getByRole('button', { name }).first().press('Enter');
      const edit = page.getByRole('dialog', { name: `Edit ${name}` });
      await edit.getByText('Not confirmed yet').waitFor();
      await expectFit();
      await reader.page.getByRole('button', { name: 'Confirm' }).press('Enter');
      await reader.page.getByText('Confirmed.').waitFor();
      await edit.getByText('Confirmed', { exact: true }).waitFor();
      await page.keyboard.press('Escape');

      await rowOf(page, name).getByRole('button', { name: 'Send test' }).press('Enter');
      await page.getByRole('dialog').getByText('The destination returned 250.').waitFor();
      await reader.page.goto(await linkIn(2));
      await reader.page.getByRole('button', { name: 'Stop these mails' }).press('Enter');
      await reader.page.getByText('This address gets no more mail from this channel.').waitFor();
      await reader.expectFit();
      await reader.close();
      await page.keyboard.press('Escape');
      await rowOf(page, name).getByRole('button', { name }).first().press('Enter');
      await edit.getByText('Stopped by the reader').waitFor();
      await expectFit();
      expect(mailServer().to(address)).toHaveLength(2);
    });
  });
}
