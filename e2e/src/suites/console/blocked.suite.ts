import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from '@jest/globals';
import { LOOKS } from '../../browser.ts';
import type { useWorkspaceInBrowser } from '../../console/workspace.stage.ts';
import type { Stage } from '../../deployment.ts';
import { cloudEvent } from '../../events.ts';
import { newWorkspace, postEvents } from '../../workspace.ts';

const ODD = [
  '<img src=x onerror="document.title=\'broken\'">',
  '\u202Eright to left\u202C عربى',
  'x'.repeat(128),
  '🧨🧯 emoji',
];

export function describeConsoleBlocked(stage: Stage, console: ReturnType<typeof useWorkspaceInBrowser>): void {
  describe.each(LOOKS)('a blocked call, at $size size and $theme', (look) => {
    afterEach(() => console.closeAll());

    it('tells in a drawer why, and what would unblock it, by keyboard alone', async () => {
      const { page, expectFit } = await console.open(look, '/blocked');
      const row = page.getByRole('table', { name: 'By a budget' }).getByRole('row').nth(1);
      await row.getByRole('button').first().press('Enter');
      const drawer = page.getByRole('dialog', { name: 'Blocked call' });
      await drawer
        .getByText('The call asked for $0.0007. The agent had used $0.0098 of its $0.01 for the day.')
        .waitFor();
      await drawer.getByText('A daily budget of $0.0105 or more for the agent').waitFor();
      await expectFit();
      await page.waitForURL(/event=/);
      await page.keyboard.press('Escape');
      await drawer.waitFor({ state: 'detached' });
      expect(page.url()).not.toContain('event=');
    });

    it('leads to the budget that blocked it, which is focused, and Back leads to the call again', async () => {
      const { page } = await console.open(look, '/blocked');
      const row = page.getByRole('table', { name: 'By a budget' }).getByRole('row').nth(1);
      await row.getByRole('button').first().click();
      const drawer = page.getByRole('dialog', { name: 'Blocked call' });
      const agent = (await drawer.getByRole('link').last().textContent()) ?? '';
      await drawer.getByRole('link', { name: 'Go to the budget' }).click();
      const field = page.getByRole('searchbox', { name: 'Find an agent' });
      await field.waitFor();
      expect(await field.inputValue()).not.toBe('');
      const edit = page.getByRole('table', { name: 'Agents' }).getByRole('button', { name: new RegExp(`: ${agent}$`) });
      await edit.and(page.locator(':focus')).waitFor();
      await page.goBack();
      await drawer.waitFor();
    });

    it('is sent to a colleague as an address, and its run shows what it spent before', async () => {
      const { page, expectFit } = await console.open(look, '/blocked?run=run-1');
      const drawer = page.getByRole('dialog', { name: 'Run run-1' });
      await drawer.getByText('spent $12.35').waitFor();
      await drawer.getByText('blocked by a budget, asked for $0.0007').waitFor();
      await expectFit();
      await drawer.getByRole('button', { name: 'Copy the id of the run' }).click();
      expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe('run-1');
    });

    it('by a guard gives the reason', async () => {
      const { page } = await console.open(look, '/blocked');
      await page.getByRole('button', { name: 'By a guard' }).click();
      await page.getByRole('table', { name: 'By a guard' }).getByText('pii').waitFor();
      await page.getByRole('table', { name: 'By a guard' }).getByRole('button').first().click();
      await page.getByRole('dialog').getByText('payment card number').waitFor();
    });

    it('with odd text in its reason shows the text as it is, and breaks no layout', async () => {
      const workspace = await newWorkspace(console.owner());
      const events = ODD.map((reason) =>
        cloudEvent('guard.blocked', { run_id: randomUUID(), agent_id: 'a'.repeat(128), guard: 'pii', reason }),
      );
      await postEvents(stage.deployment(), workspace.apiKey, events);
      await console.owner().expect({
        method: 'POST',
        path: workspace.path('/agents'),
        body: { agent_id: 'odd', display_name: ODD[0] },
        status: 201,
      });
      const { page, expectFit } = await console.open(look, '');
      await page.goto(`/w/${workspace.slug}/blocked?kind=guard`);
      const buttons = page.getByRole('table', { name: 'By a guard' }).getByRole('row');
      await buttons.nth(ODD.length).waitFor();
      await expectFit();
      const shown: string[] = [];
      for (const index of ODD.keys()) {
        await buttons
          .nth(index + 1)
          .getByRole('button')
          .first()
          .click();
        shown.push(
          (await page
            .getByRole('dialog')
            .getByText(/^pii: /)
            .textContent()) ?? '',
        );
        await expectFit();
        await page.keyboard.press('Escape');
      }
      expect(shown.sort()).toEqual(ODD.map((reason) => `pii: ${reason}`).sort());
      await page.goto(`/w/${workspace.slug}/agents`);
      await page.getByText(ODD[0] ?? '', { exact: true }).waitFor();
      await expectFit();
      expect(await page.title()).toBe('Agents · Tollkeeper');
    });
  });
}
