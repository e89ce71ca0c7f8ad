import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import { inOneLook, LOOKS } from '../../browser.ts';
import { passUntil } from '../../console/page.clock.ts';
import { cardOf, rowOf, undo } from '../../console/person.ts';
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

    inOneLook(look)('leads from each number of the overview to its page, in the same span', async () => {
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

    inOneLook(look)('divides into agents, models and plans, each with its numbers as a table', async () => {
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
      await agents.getByRole('img', { name: 'Spend trend of planner' }).waitFor();
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
  });
}
