import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import { LOOKS } from '../../browser.ts';
import { passUntil } from '../../console/page.clock.ts';
import { cardOf, drawFinger, rowOf, undo } from '../../console/person.ts';
import type { useWorkspaceInBrowser } from '../../console/workspace.stage.ts';
import type { Stage } from '../../deployment.ts';
import { budgetBlocked, cloudEvent, spendSettled } from '../../events.ts';
import { newWorkspace, postEvents, reportEvents } from '../../workspace.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

const LONG_LABEL = `note=${'long'.repeat(32)}`;

export function describeConsoleMoney(stage: Stage, console: ReturnType<typeof useWorkspaceInBrowser>): void {
  describe.each(LOOKS)('where the money goes, at $size size and $theme', (look) => {
    afterEach(() => console.closeAll());

    it('stands on the overview to the micro, with what is left of the budget and who spent it', async () => {
      const { page } = await console.open(look, '');
      await page.getByTitle('$14.345678', { exact: true }).first().waitFor();
      await page.getByText('of $50.00', { exact: true }).waitFor();
      await page.getByRole('img', { name: /29% spent/ }).waitFor();
      await page.getByText(/\$35\.65 left, .* resets in \d+ (h|min|s)/).waitFor();
      await page.getByText(new RegExp(`^Today, \\d+ \\p{L}+, ${console.timezone}`, 'u')).waitFor();
      await page.getByRole('group', { name: /^Spend by agent, every hour/ }).waitFor();
      const planner = page.getByRole('table', { name: 'Top agents' }).getByRole('row', { name: 'planner' });
      await planner.getByTitle('$12.345678').waitFor();
      if (look.size === 'desktop') {
        await planner.getByText('86%').waitFor();
        await planner.getByRole('img', { name: 'Spend trend of planner' }).waitFor();
      }
      await page.getByText('1 by a budget, 1 by a guard').waitFor();
    });

    it('says which calls it does not include, and how to avoid them', async () => {
      const workspace = await newWorkspace(console.owner());
      const settled = (model: string) => {
        const { data, ...event } = spendSettled({ amountMicros: 0 });
        return { ...event, data: { ...data, model, priced_by: 'none', input_tokens: 1200, output_tokens: 345 } };
      };
      const call = { call_id: 'c1', run_id: 'run-1', agent_id: 'planner', reason: 'no_usage' };
      await reportEvents(stage.deployment(), workspace.apiKey, [
        ...['house-1', 'house-1', 'house-2'].map(settled),
        cloudEvent('call.unmetered', call),
      ]);
      const { page, expectFit } = await console.open(look, '', workspace);
      await page.getByRole('link', { name: 'Not included: 3 calls without a price, 1 call without usage' }).click();
      await page.getByRole('heading', { level: 1, name: 'Spend' }).waitFor();
      const models = page.getByRole('table', { name: 'Models without a price' });
      await models.getByRole('row', { name: /house-1 2 2,400 \/ 690/ }).waitFor();
      await models.getByRole('row', { name: /house-2 1 1,200 \/ 345/ }).waitFor();
      await page.getByText(/^1 call reported neither tokens nor a cost/).waitFor();
      await expectFit();
    });

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

    it('leads from each number of the overview to its page, in the same span', async () => {
      const { page } = await console.open(look, '?range=current_month');
      for (const [name, below, heading] of [
        [/^Spend: \$14\.35$/, 'spend', 'Spend'],
        [/^Blocked calls: 2$/, 'blocked', 'Blocked'],
        [/^1 by a budget$/, 'blocked', 'Blocked'],
        [/^1 by a guard$/, 'blocked', 'Blocked'],
        [/^Active agents: 2$/, 'agents', 'Agents'],
        [/^Per settlement: \$7\.17$/, 'spend', 'Spend'],
      ] as const) {
        await page.getByRole('main').getByRole('link', { name }).click();
        await page.getByRole('heading', { level: 1, name: heading }).waitFor();
        const { pathname, searchParams } = new URL(page.url());
        expect([pathname.split('/').at(-1), searchParams.get('range')]).toEqual([below, 'current_month']);
        expect(searchParams.get('kind')).toBe(/guard/.test(name.source) ? 'guard' : null);
        await page.goBack();
      }
      await page.getByRole('button', { name: 'Today' }).click();
      await page.getByRole('main').getByRole('link', { name: 'Limits' }).click();
      await page.getByRole('heading', { level: 1, name: 'Limits' }).waitFor();
    });

    it('divides into agents, models and plans, each with its numbers as a table', async () => {
      const { page } = await console.open(look, '/spend');
      await rowOf(page, 'planner').getByText('86%').waitFor();
      await page.getByRole('button', { name: 'Model', exact: true }).click();
      await page.waitForURL(/by=model/);
      await rowOf(page, 'test-model').getByText('100%').waitFor();
      await page.getByRole('button', { name: 'Plan', exact: true }).click();
      await rowOf(page, 'no plan reported').getByText('100%').waitFor();
      await page.getByRole('button', { name: 'Agent', exact: true }).click();
      await page.getByRole('table', { name: 'Agents' }).getByText('writer').waitFor();
      await page.getByRole('button', { name: 'Show as table' }).click();
      const numbers = page.getByRole('table', { name: /^Spend over time/ });
      await numbers.getByRole('columnheader', { name: 'planner' }).waitFor();
      await numbers.getByRole('cell', { name: '$12.345678' }).waitFor();
      const agents = page.getByRole('table', { name: 'Agents' });
      if (look.size === 'desktop') await agents.getByRole('img', { name: 'Spend trend of planner' }).waitFor();
      await agents.getByRole('link', { name: 'planner' }).click();
      await page.getByRole('heading', { level: 1, name: 'planner' }).waitFor();
    });

    it('of one agent has its models, its last calls and what was blocked; its owner changes its labels and its name, and takes that back', async () => {
      const { page, expectFit } = await console.open(look, '/agents');
      await page.getByRole('searchbox', { name: 'Find an agent' }).fill('plan');
      await page.waitForURL(/find=plan/);
      await page.reload();
      await rowOf(page, 'planner').waitFor();
      expect(await rowOf(page, 'writer').count()).toBe(0);
      await page.getByRole('table', { name: 'Agents' }).getByRole('link', { name: 'planner' }).click();
      await page.getByRole('group', { name: /^Spend: planner/ }).waitFor();
      await page.getByRole('table', { name: 'Models' }).getByText('test-model').waitFor();
      await page.getByRole('table', { name: 'Recent settlements' }).getByText('run-1').waitFor();
      await page.getByRole('table', { name: 'Blocked calls' }).getByText('agent budget').waitFor();
      await page.getByRole('button', { name: 'Edit labels' }).click();
      const labels = page.getByRole('dialog', { name: 'Edit labels of planner' });
      await labels.getByLabel('Labels').fill(`team=growth\nenv=prod\n${LONG_LABEL}`);
      await expectFit();
      await labels.getByRole('button', { name: 'Save' }).click();
      await labels.waitFor({ state: 'detached' });
      const shown = await cardOf(page, 'Labels').getByRole('listitem').allTextContents();
      expect(shown).toEqual(['env=prod', LONG_LABEL, 'team=growth']);
      await expectFit();
      await undo(page, 'Labels of planner saved');
      await cardOf(page, 'Labels').getByText('No labels yet').waitFor();
      await page.getByRole('button', { name: 'Rename' }).click();
      const dialog = page.getByRole('dialog', { name: 'Rename planner' });
      await dialog.getByLabel('Name').fill('Planner');
      await expectFit();
      await dialog.getByRole('button', { name: 'Rename' }).click();
      await page.getByRole('heading', { level: 1, name: 'Planner', exact: true }).waitFor();
      await page.getByRole('button', { name: 'Undo' }).click();
      await page.getByRole('heading', { level: 1, name: 'planner', exact: true }).waitFor();
    });
  });

  describe('where the money goes', () => {
    afterEach(() => console.closeAll());

    it('is shown for the days that are chosen, which stay in the address from page to page', async () => {
      const workspace = await newWorkspace(console.owner());
      const [before, first, last] = [40, 39, 38].map((days) => new Date(Date.now() - days * DAY_MS).toISOString());
      await reportEvents(
        stage.deployment(),
        workspace.apiKey,
        [before!, first!, last!].map((time) => spendSettled({ amountMicros: 1_000_000, time })),
      );
      const { page } = await console.open(LOOKS[0]!, '', workspace);
      await page.getByLabel('More', { exact: true }).selectOption('Dates');
      const [start, end] = [first!, last!].map((time) => time.slice(0, 10));
      for (const [label, day] of [
        ['First day', start!],
        ['Last day', end!],
      ] as const) {
        const [year, month, date] = day.split('-');
        await page.getByLabel(label).focus();
        await page.keyboard.type(`${month}${date}${year}`, { delay: 100 });
      }
      await page.waitForURL((url) => url.search === `?range=dates&start=${start}&end=${end}`);
      await cardOf(page, 'Spend').getByText('$2.00').waitFor();
      await cardOf(page, 'Spend').getByText('▲ up 100% vs the period before').waitFor();
      await page.getByRole('link', { name: 'All agents' }).click();
      await page.waitForURL((url) => url.search === `?range=dates&start=${start}&end=${end}`);

      await page.getByLabel('Last day').fill('2020-01-01');
      await page.getByText('The first day must not be after the last.').waitFor();
      await page.getByRole('button', { name: 'Today' }).click();
      await page.waitForURL((url) => url.search === '?range=today');
    });

    it('is shown for the range in the address on every page that has one', async () => {
      for (const below of ['', '/spend', '/agents', '/agents/planner', '/blocked']) {
        const { page } = await console.open(LOOKS[0]!, `${below}?range=last_quarter`);
        expect([below, await page.getByLabel('More', { exact: true }).inputValue()]).toEqual([below, 'last_quarter']);
        await page.getByLabel('More', { exact: true }).selectOption('Last week');
        await page.waitForURL((url) => url.search === '?range=last_week');
      }
    });

    it('is divided by the values of a tracked label and filtered by one, as the address says', async () => {
      const workspace = await newWorkspace(console.owner());
      const path = workspace.path('/workspace');
      await console.owner().expect({ method: 'PATCH', path, body: { tracked_labels: ['team'] } });
      const spent = (amountMicros: number, team?: string) => {
        const event = spendSettled({ amountMicros });
        return { ...event, data: { ...event.data, ...(team !== undefined && { labels: { team } }) } };
      };
      const blocked = budgetBlocked('run-growth');
      const events = [
        ...[spent(3_000_000, '1.10'), spent(2_000_000, 'sales'), spent(1_000_000), budgetBlocked('run-2')],
        { ...blocked, data: { ...blocked.data, labels: { team: '1.10' } } },
      ];
      const isTracked = async () => {
        const series = workspace.path('/dashboard/spend/series?label.team=1.10');
        await console.owner().expect({ path: series });
      };
      await eventually(isTracked);
      await reportEvents(stage.deployment(), workspace.apiKey, events);
      for (const look of LOOKS) {
        const { page, expectFit } = await console.open(look, '/spend?by=label%3Ateam', workspace);
        await page.getByRole('group', { name: 'Spend over time: team' }).waitFor();
        const values = page.getByRole('table', { name: 'Values of team' });
        await values.getByRole('row', { name: 'sales' }).getByText('$2.00').waitFor();
        await expectFit();
        await values.getByRole('link', { name: '1.10' }).click();
        await page.waitForURL((url) => url.search === '?label.team=1.10');
        await cardOf(page, 'Spend').getByText('$3.00').waitFor();
        await page.reload();
        await page.getByText('team=1.10').waitFor();
        await cardOf(page, 'Spend').getByText('$3.00').waitFor();
        await expectFit();
        await page.getByRole('button', { name: 'Clear filter' }).click();
        await page.waitForURL(/by=label/);
        await page.getByLabel('Value', { exact: true }).fill('sales');
        await page.getByRole('button', { name: 'Filter', exact: true }).click();
        await cardOf(page, 'Spend').getByText('$2.00').waitFor();

        await page.goto(`/w/${workspace.slug}/blocked?label.team=1.10`);
        await page.getByText('1 blocked call in this time range').waitFor();
        await page.getByRole('button', { name: 'run-growth' }).or(page.getByText('team=1.10')).first().waitFor();
        await expectFit();
        await page.getByRole('button', { name: 'Clear filter' }).click();
        await page.getByText('2 blocked calls in this time range').waitFor();
        await page.goto(`/w/${workspace.slug}/blocked?agent=nobody`);
        await page.getByText('No calls blocked by a budget in this time range').waitFor();
      }
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

    it('is compared with the time before', async () => {
      const workspace = await newWorkspace(console.owner());
      const at = (minutes: number) => new Date(Date.now() - minutes * MINUTE_MS).toISOString();
      const blocked = (minutes: number) => ({ ...budgetBlocked('run-1'), time: at(minutes) });
      await reportEvents(stage.deployment(), workspace.apiKey, [
        spendSettled({ amountMicros: 2_000_000, time: at(22) }),
        spendSettled({ amountMicros: 3_000_000, time: at(3) }),
        ...[blocked(22), blocked(22), blocked(3)],
      ]);
      const { page } = await console.open(LOOKS[0]!, '?range=15min', workspace);
      await cardOf(page, 'Spend').getByText('▲ up 50% vs the previous 15 minutes').waitFor();
      await cardOf(page, 'Blocked calls').getByText('▼ down 50% vs the previous 15 minutes').waitFor();
    });

    it('follows automatically while the page is open', async () => {
      const workspace = await newWorkspace(console.owner());
      const { page } = await console.begin(LOOKS[0]!);
      await page.clock.install();
      await page.goto(`/w/${workspace.slug}`);
      await page.getByText('No spend in this time range').waitFor();
      await page
        .getByRole('group', { name: /^Spend by agent/ })
        .getByText('No data in this time range')
        .waitFor();
      await reportEvents(
        stage.deployment(),
        workspace.apiKey,
        spendSettled({ agentId: 'late', amountMicros: 1_000_000 }),
      );
      await passUntil(page, async () => expect(await rowOf(page, 'late').getByText('$1.00').count()).toBe(1));
    });

    it('has the tokens where they are known, in totals and tables: short, and the whole number on hover', async () => {
      const workspace = await newWorkspace(console.owner());
      const call = spendSettled({ agentId: 'reader', amountMicros: 1_000_000 });
      const counted = { ...call, data: { ...call.data, input_tokens: 1_234_567, output_tokens: 45_678 } };
      const uncounted = { settlement_id: randomUUID(), run_id: 'run-2', agent_id: 'silent', amount_micros: 1 };
      const post = (event: typeof call) => postEvents(stage.deployment(), workspace.apiKey, [event]);
      await post(cloudEvent('spend.settled', uncounted));
      const { page } = await console.begin(LOOKS[0]!);
      await page.clock.install();
      await page.goto(`/w/${workspace.slug}`);
      await cardOf(page, 'Per settlement').getByText('– tokens in, – out').waitFor();
      await page.goto(`/w/${workspace.slug}/spend`);
      await cardOf(page, 'Tokens').getByText('–', { exact: true }).waitFor();
      await post(counted);
      const sent = cardOf(page, 'Tokens').getByTitle('1,234,567');
      await passUntil(page, async () => expect(await sent.allTextContents()).toEqual(['1.2M']));
      expect(await cardOf(page, 'Tokens').getByTitle('45,678').textContent()).toBe('45.7K');
      await rowOf(page, 'reader').getByRole('cell', { name: '1.2M / 45.7K' }).waitFor();
      await rowOf(page, 'silent').getByRole('cell', { name: '–' }).waitFor();
    });

    it('of a chart is read by keyboard alone', async () => {
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

  describe('where the money goes, under a finger', () => {
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
