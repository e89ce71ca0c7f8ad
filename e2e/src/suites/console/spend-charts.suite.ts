import { readFile } from 'node:fs/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import { LOOKS } from '../../browser.ts';
import { cardOf, drawFinger } from '../../console/person.ts';
import type { useWorkspaceInBrowser } from '../../console/workspace.stage.ts';
import type { Stage } from '../../deployment.ts';
import { spendSettled } from '../../events.ts';
import { newWorkspace, reportEvents } from '../../workspace.ts';

export function describeConsoleSpendCharts(stage: Stage, console: ReturnType<typeof useWorkspaceInBrowser>): void {
  describe.each(LOOKS)('spend in a chart, at $size size and $theme', (look) => {
    afterEach(() => console.closeAll());

    it('is added up to the end of the day, with the limit of the budget and the projected spend', async () => {
      const { page, expectFit } = await console.open(look, '');
      const chart = /^Spend by agent, every hour, cumulative, .* with the limit of \$50\.00 of /;
      const plot = page.getByRole('group', { name: chart });
      await plot.focus();
      await page.keyboard.press('End');
      await plot.getByText(/, 23:00:00/).waitFor();
      await plot.getByText('Projected').waitFor();
      await page.keyboard.press('Escape');
      await expectFit();
      await page.getByRole('button', { name: 'Show as table' }).click();
      const numbers = page.getByRole('table', { name: chart });
      const heads = ['Time', 'Total', 'Projected'];
      await eventually(async () => {
        // There is no room for the agents beside them.
        const shown = numbers.getByRole('columnheader').filter({ visible: true });
        expect(await shown.allTextContents()).toEqual(heads);
      });
      await numbers.getByRole('row', { name: /, 23:00:00 – \$[\d,.]+$/ }).waitFor();
      await numbers
        .getByRole('row', { name: / \$14\.345678 \$[\d,.]+$/ })
        .first()
        .waitFor();
      await expectFit();
      await page.getByRole('button', { name: 'Per interval' }).click();
      await page.waitForURL(/chart=interval/);
      await page.getByRole('group', { name: /^Spend by agent, every hour\. / }).waitFor();
    });
  });

  describe('spend in a chart', () => {
    afterEach(() => console.closeAll());

    it('is saved as files: the numbers of a chart, the rows of a table, and all spend of the page', async () => {
      const workspace = await newWorkspace(console.owner(), console.timezone);
      await reportEvents(stage.deployment(), workspace.apiKey, [
        spendSettled({ agentId: 'reader', amountMicros: 1_500_001 }),
        spendSettled({ agentId: 'writer', amountMicros: 250_000 }),
      ]);
      const { page } = await console.open(LOOKS[0]!, '/spend?range=15min', workspace);
      const save = async (press: () => Promise<void>) => {
        const [download] = await Promise.all([page.waitForEvent('download'), press()]);
        return { name: download.suggestedFilename(), text: await readFile(await download.path(), 'utf8') };
      };
      const file = { name: 'Download CSV' };
      await page.getByRole('link', { name: 'reader' }).waitFor();
      const chart = await save(() => cardOf(page, 'Spend over time').getByRole('button', file).click());
      expect(chart).toEqual({ name: 'Spend-over-time.csv', text: expect.stringMatching(/^Time,Spend\r\n/) });
      const spent = chart.text.split('\r\n').slice(1, -1);
      expect(spent.reduce((sum, line) => sum + Number(line.split(',').at(-1)), 0)).toBeCloseTo(1.750001, 6);
      const { text: agents } = await save(() => cardOf(page, 'Agents').getByRole('button', file).click());
      expect(agents.replaceAll(/,[\d/ ]*\r/g, '\r')).toMatch(
        /^Agent,Spend,Share,Settlements,Tokens in \/ out\r\nreader,1\.500001,86%,1\r\nwriter,0\.25,14%,1\r\n$/,
      );
      await page.getByRole('button', { name: 'Export' }).click();
      await page.getByLabel('One row for each').selectOption('call');
      const calls = await save(() => page.getByRole('link', { name: 'Download' }).click());
      expect(calls.name).toMatch(/^tollkeeper-.*\.csv$/);
      const [head = '', ...lines] = calls.text.trimEnd().split('\r\n');
      expect(head).toMatch(/^occurred_at,amount_usd,settlement_id,/);
      expect(lines.map((line) => line.split(',')[1]).toSorted()).toEqual(['0.250000', '1.500001']);
    });

    it('of an agent and of a month is added up to the end, with the limits that count it', async () => {
      const workspace = await newWorkspace(console.owner(), console.timezone);
      const reader = {
        method: 'POST',
        path: workspace.path('/agents'),
        body: { agent_id: 'reader', display_name: 'reader' },
        status: 201,
      };
      await console.owner().expect(reader);
      const put = { method: 'PUT', body: { daily_budget_usd_micros: 4_000_000 } };
      await console
        .owner()
        .expect({ ...put, path: workspace.path(`/workspaces/${workspace.id}/budgets/agents/reader`) });
      const post = { method: 'POST', path: workspace.path('/budgets'), status: 201 };
      const month = { name: 'All of it', selector: {}, period: { kind: 'month' }, limit_micros: 90_000_000 };
      await console.owner().expect({ ...post, body: month });
      const limits = async () => {
        const { items } = await console.owner().expect<{ items: object[] }>({ path: workspace.path('/limits') });
        expect(items.length).toBe(2);
      };
      await eventually(limits);
      await reportEvents(stage.deployment(), workspace.apiKey, [
        spendSettled({ agentId: 'reader', amountMicros: 1_500_000 }),
      ]);
      for (const look of LOOKS) {
        const { page, expectFit } = await console.open(look, '/agents/reader', workspace);
        await page
          .getByRole('group', { name: /^Spend: reader, cumulative, .* with the limit of \$4\.00 of / })
          .waitFor();
        await expectFit();
        await page.getByRole('button', { name: 'Show as table' }).click();
        await page.getByRole('row', { name: /, 23:00:00 – \$[\d,.]+( \$4\.00)?$/ }).waitFor();
        // What can be switched is there with the chart, and not before.
        const [asked, answers] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
        const hold: Parameters<typeof page.route>[1] = async (route) => {
          asked.resolve();
          await answers.promise;
          await route.continue();
        };
        await page.route('**/spend/breakdown?*', hold, { times: 1 });
        await page.goto(`/w/${workspace.slug}?range=current_month`);
        await asked.promise;
        await cardOf(page, 'Spend by agent').getByRole('status', { name: 'Loading' }).waitFor();
        expect(await page.getByRole('group', { name: 'Chart', exact: true }).count()).toBe(0);
        answers.resolve();
        await page.getByRole('group', { name: 'Chart', exact: true }).waitFor();
        await page.getByRole('button', { name: 'Show as table' }).click();
        const ofMonth = page.getByRole('table', { name: /, with the limit of \$90\.00 of All of it$/ });
        await ofMonth
          .getByRole('row', { name: / \$1\.50/ })
          .first()
          .waitFor();
        expect(await ofMonth.getByRole('row').count()).toBeGreaterThanOrEqual(1 + 28);
        await expectFit();
      }
    });

    it('is read by keyboard alone', async () => {
      const { page } = await console.open(LOOKS[0]!, '/spend');
      const chart = page.getByRole('group', { name: /Spend over time/ });
      await chart.focus();
      await page.keyboard.press('End');
      // The last hour, or the one before it if a new hour has started.
      await eventually(async () => {
        if (await chart.getByText('$14.345678').isVisible()) return;
        await page.keyboard.press('ArrowLeft');
        throw new Error('no bar has the spend yet');
      });
      await page.keyboard.press('Escape');
      await chart.getByText('$14.345678').waitFor({ state: 'detached' });
    });

    it('of a day of 25 hours is unambiguous where the clock shows an hour twice', async () => {
      const workspace = await newWorkspace(console.owner(), 'Europe/Zurich');
      await reportEvents(stage.deployment(), workspace.apiKey, [spendSettled({ amountMicros: 1 })]);
      const { page } = await console.begin(LOOKS[0]!);
      // In Zurich, from 22:00 UTC on; the clock was set back at 1:00 UTC.
      const start = (hour: number) => new Date(Date.UTC(2026, 9, 24, 22 + hour)).toISOString();
      const points = Array.from({ length: 25 }, (_, hour) => ({ start: start(hour), total_micros: hour * 1_000_000 }));
      await page.route('**/dashboard/spend/series?*', async (route) => {
        const answer = await route.fetch();
        await route.fulfill({ response: answer, json: { ...(await answer.json()), interval: '1h', points } });
      });
      await page.goto(`/w/${workspace.slug}/spend`);
      await page.getByRole('button', { name: 'Show as table' }).click();
      const numbers = page.getByRole('table', { name: 'Spend over time' });
      await numbers.getByRole('row', { name: '25 Oct 2026, 02:00:00 GMT+2 $2.00' }).waitFor();
      await numbers.getByRole('row', { name: '25 Oct 2026, 02:00:00 GMT+1 $3.00' }).waitFor();
      await numbers.getByRole('row', { name: '25 Oct 2026, 23:00:00 $24.00' }).waitFor();
    });
  });

  describe('spend in a chart, under a finger', () => {
    afterEach(() => console.closeAll());

    it('is shown by the bar below it, also where it is drawn to another one, and stays when it is lifted', async () => {
      const { page } = await console.open(LOOKS[1]!, '/spend');
      const chart = page.getByRole('group', { name: /Spend over time/ });
      await chart.scrollIntoViewIfNeeded();
      const { x, y, width, height } = (await chart.boundingBox())!;
      const middle = y + height / 2;
      // The first hour of the day. It started before anything was spent, or has all spend.
      await page.touchscreen.tap(x + 60, middle);
      await chart.getByText(/, 00:00:00/).waitFor();
      await drawFinger(page, { x: x + 60, y: middle }, { x: x + width - 3, y: middle });
      await chart.getByText('in progress').waitFor();
    });
  });
}
