import { afterEach, describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import type { Page } from 'playwright-core';
import { LOOKS } from '../../browser.ts';
import { cardOf, rowOf } from '../../console/person.ts';
import type { useWorkspaceInBrowser } from '../../console/workspace.stage.ts';
import type { Stage } from '../../deployment.ts';
import { spendSettled } from '../../events.ts';
import { reportCall } from '../../reported.calls.ts';
import { newMember, newWorkspace, reportEvents, type TestWorkspace } from '../../workspace.ts';

interface Spent {
  metrics: { total_micros: number };
  unpriced: { calls: number };
}

export function describeConsoleBills(stage: Stage, console: ReturnType<typeof useWorkspaceInBrowser>): void {
  /** A workspace that has counted $2.50 and $1.25 of two models and a call without a price, and the UTC day of that. */
  async function newSpender(): Promise<{ workspace: TestWorkspace; day: string }> {
    const workspace = await newWorkspace(console.owner());
    // All on one day, even if it ends during the test.
    const time = new Date().toISOString();
    const events = ['gpt-4o-2024-08-06', 'house-1'].map((model, index) => {
      const event = spendSettled({ amountMicros: 2_500_000 / (index + 1), time });
      return { ...event, data: { ...event.data, model } };
    });
    // On a busy machine, the check of the key may time out.
    await eventually(() => reportEvents(stage.deployment(), workspace.apiKey, events));
    await reportCall(stage.deployment(), workspace.apiKey, { model: 'house-2', inputTokens: 5 });
    await eventually(async () => {
      const path = workspace.path('/dashboard/spend?range=1m');
      const { metrics, unpriced } = await console.owner().expect<Spent>({ path });
      expect([metrics.total_micros, unpriced.calls]).toEqual([3_750_000, 1]);
    });
    return { workspace, day: time.slice(0, 'yyyy-mm-dd'.length) };
  }

  describe.each(LOOKS)('bills, at $size size and $theme', (look) => {
    afterEach(() => console.closeAll());

    it('an admin compares a cost file, and sees exact differences, which stay after a reload', async () => {
      const { workspace, day } = await newSpender();
      const admin = await newMember(stage.deployment(), console.owner(), workspace, 'admin');
      const { page, expectFit, close } = await console.browser.visit(look, admin);
      await page.goto(`/w/${workspace.slug}/prices`);
      await page.getByRole('link', { name: 'Compare a bill' }).press('Enter');
      await page.getByText('No bills compared yet').waitFor();
      for (const provider of ['openai', 'claude']) {
        await page.getByRole('link', { name: `platform.${provider}.com` }).waitFor();
      }
      await chooseFile(page, 'day,model,amount_usd', `${day},GPT-4o,3.000001`, `${day},web search,1`);
      await page.getByRole('button', { name: 'Compare' }).press('Enter');
      await page.getByRole('heading', { level: 1, name: 'costs.csv' }).waitFor();
      expect(new URL(page.url()).pathname).toMatch(/\/bills\/rec_/);
      for (const reload of [false, true]) {
        if (reload) await page.reload();
        await cardOf(page, 'Billed').getByText('$4.00').waitFor();
        await cardOf(page, 'Counted').getByText('$2.50').waitFor();
        await cardOf(page, 'Difference').getByTitle('−$1.500001').waitFor();
        await cardOf(page, 'Difference (%)').getByText('−38%').waitFor();
        const table = page.getByRole('table', { name: 'Differences: Model and day' });
        await eventually(async () => {
          expect(await table.getByRole('row').allInnerTexts()).toEqual([
            expect.stringContaining('Model and day'),
            expect.stringMatching(/^web search\s[^]*−\$1\.00/),
            expect.stringMatching(/^gpt-4o\s[^]*−\$0\.50/),
          ]);
        });
        await table.getByTitle('−$0.500001').waitFor();
        await cardOf(page, 'Billed, not counted').getByRole('row', { name: 'web search $1.00' }).waitFor();
        await cardOf(page, 'Counted, not billed').getByRole('row', { name: 'house-1 $1.25' }).waitFor();
        await page.getByText('1 call has no price and counts as $0.00 in this time.').waitFor();
        await expectFit();
      }
      await page.getByRole('button', { name: 'Day', exact: true }).press('Enter');
      const days = page.getByRole('table', { name: 'Differences: Day' });
      await days.getByRole('row').nth(1).getByText('−$1.50').waitFor();
      await page.reload();
      await days.waitFor();
      await page.getByRole('link', { name: 'Show the models' }).press('Enter');
      await cardOf(page, 'Models without a price').getByText('house-2').waitFor();
      await close();
    });

    it('shows what is wrong with a file, with its line, beside the field, and compares it once it is mended', async () => {
      const { workspace, day } = await newSpender();
      const { page, expectFit, takeProblems } = await console.open(look, '/bills', workspace);
      const compare = page.getByRole('button', { name: 'Compare' });
      const field = page.getByLabel('Cost file');
      const expectProblem = async (problem: string) => {
        await compare.press('Enter');
        await page.getByText(problem).waitFor();
        expect(await field.getAttribute('aria-invalid')).toBe('true');
        const about = await field.getAttribute('aria-describedby');
        expect(await page.locator(`[id="${about}"]`).innerText()).toContain(problem);
      };
      await page.getByText('No bills compared yet').waitFor();
      await expectProblem('Choose a file.');
      await chooseFile(page, 'day,model,amount_usd', `${day},gpt-4o,1`, `${day},gpt-4o,one dollar`);
      await expectProblem('Line 3: amount_usd must be a number of US dollars, such as 12.50.');
      await expectFit();
      await chooseFile(page, 'date,cost');
      await expectProblem('It has date, cost.');
      await chooseFile(page, 'day,model,amount_usd', 'x'.repeat(1024 * 1024));
      await expectProblem('The file is larger than 1 MiB.');
      await chooseFile(page, 'day,model,amount_usd', `${day},gpt-4o,2.5`);
      await compare.press('Enter');
      await page.getByText('What was counted is what was billed.').waitFor();
      await page.getByText('Every model on the bill was counted.').waitFor();
      // The two files that the API has refused, and nothing else.
      const problems = takeProblems();
      expect(problems.filter((problem) => problem.startsWith('400 '))).toHaveLength(2);
      expect(problems.filter((problem) => !problem.includes('400'))).toEqual([]);
    });

    it('members read the comparisons and make none, in the page as in the API', async () => {
      const { workspace, day } = await newSpender();
      const path = workspace.path('/reconciliations?file_name=october.csv');
      const body = `day,model,amount_usd\n${day},gpt-4o,2`;
      const headers = { 'content-type': 'text/csv' };
      const member = await newMember(stage.deployment(), console.owner(), workspace, 'member');
      const { page, expectFit, close } = await console.browser.visit(look, member);
      await page.goto(`/w/${workspace.slug}/bills`);
      await page.getByText('Admins of the workspace can compare').waitFor();
      expect((await member.call({ method: 'POST', path, body, headers })).status).toBe(403);
      await console.owner().expect({ method: 'POST', path, body, headers });
      await page.reload();
      await rowOf(page, 'october.csv').getByText('+$0.50').waitFor();
      expect(await page.getByLabel('Cost file').count()).toBe(0);
      await expectFit();
      await page.getByRole('link', { name: 'october.csv' }).press('Enter');
      await cardOf(page, 'Difference').getByText('+$0.50').waitFor();
      await close();
    });
  });
}

/** Chooses a file of these lines, as Windows names the type of CSV. */
async function chooseFile(page: Page, ...lines: string[]): Promise<void> {
  const buffer = Buffer.from(lines.join('\n'));
  await page.getByLabel('Cost file').setInputFiles({ name: 'costs.csv', mimeType: 'application/vnd.ms-excel', buffer });
}
