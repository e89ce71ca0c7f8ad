import { afterEach, describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import { LOOKS } from '../../browser.ts';
import { rowOf } from '../../console/person.ts';
import type { useWorkspaceInBrowser } from '../../console/workspace.stage.ts';
import type { Stage } from '../../deployment.ts';
import { reportCall } from '../../reported.calls.ts';
import { newMember, newWorkspace } from '../../workspace.ts';

interface Listed {
  items: Record<string, unknown>[];
}

export function describeConsolePrices(stage: Stage, console: ReturnType<typeof useWorkspaceInBrowser>): void {
  describe.each(LOOKS)('prices, at $size size and $theme', (look) => {
    afterEach(() => console.closeAll());

    it('an owner finds a model of the release, sets its price to the micro, corrects it, and ends it', async () => {
      const workspace = await newWorkspace(console.owner());
      const { page, expectFit } = await console.open(look, '/prices', workspace);
      const prices = async () => (await console.owner().expect<Listed>({ path: workspace.path('/prices') })).items;
      await page.getByText('No prices set').waitFor();
      await page.getByRole('button', { name: 'Release' }).press('Enter');
      await page.getByLabel('Find').fill('gpt-4o-mini');
      await page.getByRole('button', { name: 'Set price of gpt-4o-mini', exact: true }).first().press('Enter');
      const dialog = page.getByRole('dialog');
      expect(await dialog.getByLabel('Input', { exact: true }).inputValue()).toBe('0.15');
      await dialog.getByLabel('Input', { exact: true }).fill('0.1234567');
      await dialog.getByRole('button', { name: 'Save' }).press('Enter');
      await dialog.getByText('with at most six decimals').waitFor();
      await expectFit();
      await dialog.getByLabel('Input', { exact: true }).fill('0.123456');
      await dialog.getByLabel('From').fill('2026-01-02');
      await dialog.getByRole('button', { name: 'Save' }).press('Enter');
      await page.getByText('Price of gpt-4o-mini set').waitFor();
      await page.getByRole('button', { name: 'Workspace', exact: true }).press('Enter');
      await page.getByLabel('Find').fill('');
      await rowOf(page, 'gpt-4o-mini').getByText('$0.123456').waitFor();
      expect(await prices()).toMatchObject([
        {
          ...{ model: 'gpt-4o-mini', provider: null, valid_from: '2026-01-02T00:00:00.000Z', ends: false },
          ...{ input_micros_per_million: 123_456, cached_input_micros_per_million: 75_000 },
          output_micros_per_million: 600_000,
        },
      ]);

      const change = page.getByRole('button', { name: 'Change the price of gpt-4o-mini' }).first();
      await change.press('Enter');
      await dialog.getByLabel('Input', { exact: true }).fill('0');
      await dialog.getByRole('button', { name: 'Save' }).press('Enter');
      await rowOf(page, '$0.00').getByText('gpt-4o-mini').waitFor();
      await change.press('Enter');
      await dialog.getByLabel('Calls have').selectOption('the prices of the release again');
      await dialog.getByLabel('From').fill('2026-03-01');
      await expectFit();
      await dialog.getByRole('button', { name: 'Save' }).press('Enter');
      await page.getByText('Price of gpt-4o-mini ended').waitFor();
      await rowOf(page, 'price of the release').waitFor();
      await expectFit();
      expect(await prices()).toMatchObject([
        { ends: true, valid_from: '2026-03-01T00:00:00.000Z' },
        { input_micros_per_million: 0, valid_to: '2026-03-01T00:00:00.000Z' },
        { input_micros_per_million: 123_456, valid_to: '2026-01-02T00:00:00.000Z' },
      ]);
    });

    it('an owner sees what pricing calls again would change, and corrects their amounts', async () => {
      const workspace = await newWorkspace(console.owner());
      await reportCall(stage.deployment(), workspace.apiKey, { model: 'house-1', inputTokens: 2_000_000 });
      const body = { model: 'house-1', valid_from: '2026-01-01T00:00:00Z', input_micros_per_million: 2_500_000 };
      await console.owner().expect({ method: 'PUT', path: workspace.path('/prices'), body });
      const spent = async () => {
        const path = workspace.path('/dashboard/spend?range=1m');
        return (await console.owner().expect<{ metrics: { total_micros: number } }>({ path })).metrics.total_micros;
      };
      const { page, expectFit } = await console.open(look, '/prices', workspace);
      await page.getByRole('button', { name: 'Price calls again' }).press('Enter');
      const dialog = page.getByRole('dialog');
      await expectFit();
      await dialog.getByRole('button', { name: 'Preview' }).press('Enter');
      await dialog.getByText('1 call gets another amount. Nothing has changed yet.').waitFor();
      await dialog.getByText('$5.00').first().waitFor();
      await expectFit();
      expect(await spent()).toBe(0);
      await dialog.getByRole('button', { name: 'Correct amounts' }).press('Enter');
      await dialog.getByText('1 call corrected.').waitFor();
      expect(await spent()).toBe(5_000_000);
      await dialog.getByRole('button', { name: 'Done' }).press('Enter');
      await dialog.waitFor({ state: 'hidden' });
    });

    it('members read them, and see how many calls have no price today', async () => {
      const workspace = await newWorkspace(console.owner());
      const body = { model: 'house-1', valid_from: '2026-01-01T00:00:00Z', input_micros_per_million: 2_500_000 };
      await console.owner().expect({ method: 'PUT', path: workspace.path('/prices'), body });
      await reportCall(stage.deployment(), workspace.apiKey, { model: 'house-2', inputTokens: 5 });
      const member = await newMember(stage.deployment(), console.owner(), workspace, 'member');
      const { page, expectFit, close } = await console.browser.visit(look, member);
      await page.goto(`/w/${workspace.slug}/prices`);
      await rowOf(page, 'house-1').getByText('$2.50').waitFor();
      expect(await page.getByRole('button', { name: /price/ }).count()).toBe(0);
      await eventually(async () => {
        await page.reload();
        await rowOf(page, 'house-1').waitFor();
        expect(await page.getByText('1 call has no price today and counts as $0.00.').count()).toBe(1);
      });
      await expectFit();
      await close();
    });
  });
}
