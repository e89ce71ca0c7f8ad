import { afterEach, describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import { type MailServer, tokenIn } from '@tollkeeper/testing/mail-server';
import { LOOKS } from '../../browser.ts';
import { fillLogIn } from '../../console/person.ts';
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
  });
}
