import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import type { Page } from 'playwright-core';
import { inOneLook, type Look, LOOKS } from '../../browser.ts';
import { cardOf } from '../../console/person.ts';
import type { useWorkspaceInBrowser } from '../../console/workspace.stage.ts';
import type { Stage } from '../../deployment.ts';
import { spendSettled } from '../../events.ts';
import { newMember, newWorkspace, reportEvents, type TestWorkspace } from '../../workspace.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const MONTHLY = { period: { kind: 'month' }, limit_micros: 1_000_000 };
/** Nothing is known of a budget's calls yet, so its row has no figures. */
const QUIET = { selector: { model: 'quiet-*' }, period: { kind: 'month' } };

/** More than a table draws at once. */
const MANY = 120;

type Budget = Record<string, unknown> & { id: string; name: string; limit_micros: number };

export function describeConsoleWorksheet(stage: Stage, console: ReturnType<typeof useWorkspaceInBrowser>): void {
  let workspace: TestWorkspace;

  function create(name: string, body: object): Promise<Budget> {
    const path = workspace.path('/budgets');
    return console.owner().expect<Budget>({ method: 'POST', path, body: { name, ...body }, status: 201 });
  }

  async function budgets(): Promise<Budget[]> {
    const path = workspace.path('/budgets?limit=100');
    return (await console.owner().expect<{ items: Budget[] }>({ path })).items;
  }

  async function limits(): Promise<Record<string, number>> {
    return Object.fromEntries((await budgets()).map(({ name, limit_micros }) => [name, limit_micros]));
  }

  describe.each(LOOKS)('the form of a budget, at $size size and $theme', (look) => {
    afterEach(() => console.closeAll());

    beforeAll(async () => {
      workspace = await newWorkspace(console.owner(), 'Europe/Paris');
      // At one time, so that they are on one day.
      const time = new Date().toISOString();
      const events = (['ann', 'ann', 'bob'] as const).map((user) => {
        const event = spendSettled({ agentId: 'reader', amountMicros: 3_000_000, time });
        return { ...event, data: { ...event.data, model: 'claude-x', labels: { user, team: 'growth' } } };
      });
      await reportEvents(stage.deployment(), workspace.apiKey, events);
      await eventually(async () => {
        const path = workspace.path('/dashboard/spend?range=1m');
        const { metrics } = await console.owner().expect<{ metrics: { unique_settlements: number } }>({ path });
        expect(metrics.unique_settlements).toBe(3);
      });
    });

    it('says the whole budget in a sentence while it is filled in, and creates it', async () => {
      // Budgets have the days of the workspace, whatever the zone of the page.
      const { page, expectFit } = await console.open(look, '/budgets?zone=Asia%2FTokyo', workspace);
      await page.getByRole('button', { name: 'New budget' }).click();
      const form = page.getByRole('dialog', { name: 'New budget' });
      const says = (sentence: string) => form.getByRole('status').getByText(sentence, { exact: true }).waitFor();
      const preview = form.getByRole('region', { name: 'Preview' });
      await says('The workspace may spend … a month');
      await says('Enter a limit to see which calls of the last 7 days it would have affected.');
      await form.getByLabel('Name', { exact: true }).fill('Claude, per user');
      await form.getByLabel('Limit in USD').fill('5');
      await form.getByLabel('Period').selectOption('Day');
      await form.getByLabel('Model', { exact: true }).fill('claude-*');
      await form.getByLabel('The limit is for').selectOption('each value of a label');
      await form.getByLabel('Name of the label').fill('user');
      await says('Each user may spend $5.00 a day on claude-*');
      await form.getByLabel('Labels').fill('team=growth');
      await form.getByLabel('Grace in percent of the limit').fill('10');
      await says('Each user of team growth may spend $5.00 a day on claude-*; calls beyond 110% of it are blocked');
      await says('In the last 7 days, this would have blocked 1 of 3 calls ($3.00 of $9.00).');
      await preview.getByText('Most affected of 2 limits: ann (1 of 2 calls).').waitFor();
      await preview.getByText('1 call beyond the limit').click();
      await preview
        .getByRole('row', { name: 'reader ann $3.00' })
        .getByTitle(/ Europe\/Paris$/)
        .waitFor();
      await expectFit();
      await form.getByLabel('Beyond the limit').selectOption('only report it');
      await says('In the last 7 days, 1 of 3 calls ($3.00 of $9.00) would have exceeded this, which is only reported.');
      await form.getByLabel('Report at percentages of the limit').fill('90, 100');
      await says('Each user of team growth may spend $5.00 a day on claude-*; calls beyond it are only reported');
      await expectFit();
      await form.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Budget Claude, per user created').waitFor();
      expect(await budgets()).toMatchObject([
        {
          ...{ name: 'Claude, per user', each: 'label:user', period: { kind: 'day' }, limit_micros: 5_000_000 },
          ...{ selector: { model: 'claude-*', labels: { team: 'growth' } }, action: 'warn', tell_at: [90, 100] },
        },
      ]);
      const row = page.getByRole('table', { name: 'All budgets' }).getByRole('row', { name: 'Claude, per user' });
      await row.getByText('Each user of team growth may spend $5.00 a day on claude-*').waitFor();
      await expectFit();
    });

    it('shows what the server refuses at its field, which is focused, and what was typed stays', async () => {
      const { page, takeProblems, expectFit } = await console.open(look, '/budgets', workspace);
      await page.getByRole('button', { name: 'New budget' }).click();
      const form = page.getByRole('dialog', { name: 'New budget' });
      await form.getByLabel('Name', { exact: true }).fill('Fiscal');
      await form.getByLabel('Limit in USD').fill('much');
      await form.getByLabel('Period').selectOption('Year');
      await form.getByLabel('Begins in').selectOption('April');
      await form.getByLabel('Begins on day').fill('31');
      const save = form.getByRole('button', { name: 'Save' });
      await save.click();
      await form.getByText('Enter an amount in US dollars').waitFor();
      await form.getByLabel('Limit in USD').and(page.locator(':focus')).waitFor();
      await form.getByLabel('Limit in USD').fill('1,000');
      await form.getByLabel('Plan').fill('Gold Plan');
      await save.click();
      await form.getByText('Must be from 1 to 28, because each month has these days.').waitFor();
      await form.getByText(/^Can match nothing: must be a plan_key/).waitFor();
      await form.getByLabel('Begins on day').and(page.locator(':focus')).waitFor();
      await form.getByText('Correct the marked fields.').waitFor();
      await expectFit();
      await form.getByLabel('Begins on day').fill('6');
      await form.getByLabel('Plan').fill('gold');
      await form.getByText('Plan gold may spend $1,000.00 a year (from 6 April)', { exact: true }).waitFor();
      await form.getByText('No calls of the last 7 days count in this budget.').waitFor();
      await save.click();
      await page.getByText('Budget Fiscal created').waitFor();
      expect(takeProblems().filter((problem) => !/\b400\b/.test(problem))).toEqual([]);
    });

    inOneLook(look)('says that there is no preview when it fails, and gets it when asked again', async () => {
      const { page, takeProblems } = await console.open(look, '/budgets', workspace);
      const error = { code: 'rate_limited', error: 'Try again later.', request_id: 'r', details: [] };
      await page.route('**/budget-preview', (route) => route.fulfill({ status: 429, json: error }));
      await page.getByRole('button', { name: 'New budget' }).click();
      const preview = page.getByRole('dialog', { name: 'New budget' }).getByRole('region', { name: 'Preview' });
      await page.getByLabel('Limit in USD').fill('100');
      await preview.getByText('No preview. Try again later.').waitFor();
      await page.unroute('**/budget-preview');
      await preview.getByRole('button', { name: 'Try again' }).click();
      await preview.getByText('In the last 7 days, this would have blocked none of 3 calls ($9.00).').waitFor();
      expect(takeProblems().filter((problem) => !/\b429\b/.test(problem))).toEqual([]);
    });

    inOneLook(look)('changes only what was changed, and deletes a budget after a warning', async () => {
      const period = { kind: 'once', start: '2026-01-01T00:00:07.000Z', end: '2099-01-01T00:00:00.000Z' };
      const made = await create('Launch', { selector: { agent: 'a-*', model: 'm' }, period, limit_micros: 7_000_000 });
      const { page } = await console.open(look, '/budgets', workspace);
      await page.getByRole('button', { name: 'Edit Launch' }).click();
      const form = page.getByRole('dialog', { name: 'Edit Launch' });
      expect(await form.getByLabel('From').inputValue()).toBe('2026-01-01T01:00');
      await form.getByLabel('Agent').fill('');
      await form.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Budget Launch saved').waitFor();
      const path = workspace.path(`/budgets/${made.id}`);
      expect(await console.owner().expect({ path })).toMatchObject({ period, selector: { model: 'm' } });
      await page.getByRole('button', { name: 'Edit Launch' }).click();
      await form.getByRole('button', { name: 'Delete' }).click();
      const warning = page.getByRole('dialog', { name: 'Delete budget Launch' });
      await warning.getByRole('button', { name: 'Delete' }).click();
      await page.getByText('Budget Launch deleted').waitFor();
      expect((await limits())['Launch']).toBeUndefined();
    });
  });

  describe('the worksheet', () => {
    const [desktop] = LOOKS as [Look, Look];
    afterEach(() => console.closeAll());

    beforeAll(async () => {
      workspace = await newWorkspace(console.owner());
      await create('Calm', { selector: {}, period: { kind: 'year' }, limit_micros: 900_000_000 });
      await create('Each agent', { selector: {}, each: 'agent', period: { kind: 'day' }, limit_micros: 10_000_000 });
      for (const name of ['One', 'Two', 'Three']) await create(name, { ...QUIET, limit_micros: 1_000_000 });
      const counted = async () => {
        const { items } = await console.owner().expect<{ items: object[] }>({ path: workspace.path('/limits') });
        return items;
      };
      // Counts what comes after the budgets apply.
      await eventually(async () => expect((await counted()).length).toBe(4));
      const events = [
        spendSettled({ agentId: 'reader', amountMicros: 9_000_000 }),
        spendSettled({ agentId: 'writer', amountMicros: 2_000_000 }),
      ];
      await reportEvents(stage.deployment(), workspace.apiKey, events);
      await eventually(async () => expect((await counted()).length).toBe(6));
    });

    it('has the budget at the highest risk first, and opens to its values', async () => {
      const { page, expectFit } = await console.open(desktop, '/budgets', workspace);
      const rows = page.getByRole('table', { name: 'All budgets' }).getByRole('row');
      await rows.nth(1).getByText('Each agent', { exact: true }).waitFor();
      await rows.nth(1).getByText('most used: reader').waitFor();
      await rows.nth(1).getByText('90%').waitFor();
      await page.getByRole('button', { name: 'Show values: Each agent' }).press('Enter');
      await rows.nth(2).getByText('reader', { exact: true }).waitFor();
      await rows.nth(3).getByText('writer', { exact: true }).waitFor();
      await rows.nth(3).getByText('20%').waitFor();
      await expectFit();
      await page.getByLabel('Sort by').selectOption('Limit');
      await page.waitForURL(/sort=limit/);
      await rows.nth(1).getByText('Calm', { exact: true }).waitFor();
      await page.getByLabel('Show', { exact: true }).selectOption('Agents, daily');
      await page.getByText('No budget matches.').waitFor();
    });

    it('has what each budget would have counted on the median of the last 14 days, or why that is not known', async () => {
      const days = Array.from({ length: 14 }, (_, index) => index + 1);
      const spent = days.map((day) =>
        spendSettled({
          agentId: 'reader',
          amountMicros: day * 20_000,
          time: new Date(Date.now() - day * DAY_MS).toISOString(),
        }),
      );
      await reportEvents(stage.deployment(), workspace.apiKey, spent);
      const unknown = await create('Key', { selector: { key: 'a'.repeat(16) }, ...MONTHLY });
      const { page, expectFit } = await console.open(desktop, '/budgets?sort=name', workspace);
      const sheet = page.getByRole('table', { name: 'All budgets' });
      await sheet.getByRole('columnheader', { name: 'Median day, last 14 days' }).waitFor();
      const median = (name: string) => sheet.getByRole('row', { name }).getByRole('cell').nth(6);
      await median('Calm').getByText('$0.15').waitFor();
      await median('most used: reader').getByText('$0.15').waitFor();
      await median('Edit: One').getByText('$0.00').waitFor();
      await median('Edit: Key').getByTitle('Not known: spend is counted by agent, model, plan and').waitFor();
      await page.getByRole('button', { name: 'Show values: Each agent' }).click();
      await median('writer').getByText('$0.00').waitFor();
      await expectFit();
      await console.owner().expect({ method: 'DELETE', path: workspace.path(`/budgets/${unknown.id}`), status: 204 });
    });

    it('reads the medians again every hour while the page is open', async () => {
      const { page } = await console.begin(desktop);
      await page.clock.install();
      await page.goto(`/w/${workspace.slug}/budgets?sort=name`);
      await page.getByRole('table', { name: 'All budgets' }).getByRole('row', { name: 'Calm' }).waitFor();
      const again = page.waitForRequest('**/dashboard/budget-medians');
      await page.clock.fastForward(HOUR_MS);
      await again;
    });

    it('takes a column of a spreadsheet for the selected rows, and reverts it as a whole', async () => {
      const { page, expectFit } = await console.open(desktop, '/budgets?sort=name', workspace);
      const before = await limits();
      for (const name of ['One', 'Three', 'Two']) await page.getByLabel(`Select ${name}`).check();
      await page.getByText('3 selected budgets').waitFor();
      await expectFit();
      await paste(page, '12.50\n\n$1,300\n');
      const dialog = page.getByRole('dialog', { name: 'Paste limits' });
      await dialog.getByText('One: $1.00 → $12.50').waitFor();
      expect(await dialog.getByRole('listitem').allTextContents()).toEqual([
        ...['One: $1.00 → $12.50', 'Two: $1.00 → $1,300.00'],
      ]);
      await expectFit();
      await dialog.getByLabel('Amounts in USD').fill('12.50\ntwelve');
      await dialog.getByText('Line 2: “twelve” is no amount').waitFor();
      await dialog.getByLabel('Amounts in USD').fill('12.50\n\n1300');
      await dialog.getByRole('button', { name: 'Set limits' }).click();
      await page.getByText('Limits of 2 budgets changed').waitFor();
      expect(await limits()).toEqual({ ...before, One: 12_500_000, Two: 1_300_000_000 });
      await page.getByRole('button', { name: 'Revert last change' }).click();
      await page.getByText('Limits of 2 budgets restored').waitFor();
      expect(await limits()).toEqual(before);
      expect(await page.getByRole('button', { name: 'Revert last change' }).isDisabled()).toBe(true);
      const history = page.getByRole('table', { name: 'Changes' });
      await history.getByRole('row', { name: /Budget Two \$1,300\.00 \$1\.00/ }).waitFor();
    });

    it('says how many limits of a column are changed if one is refused, and reverts those', async () => {
      const { page, takeProblems } = await console.begin(desktop);
      await page.goto(`/w/${workspace.slug}/budgets?sort=name`);
      const before = await limits();
      for (const name of ['One', 'Two']) await page.getByLabel(`Select ${name}`).check();
      const two = (await budgets()).find(({ name }) => name === 'Two')!;
      await page.route(`**/api/v1/budgets/${two.id}`, (route) => route.fulfill({ status: 409, json: REFUSAL }));
      await paste(page, '8');
      const dialog = page.getByRole('dialog', { name: 'Paste limits' });
      await dialog.getByRole('button', { name: 'Set limits' }).click();
      await dialog.getByText('1 of 2 budgets changed. The budget is locked.').waitFor();
      expect(await limits()).toEqual({ ...before, One: 8_000_000 });
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await page.getByRole('button', { name: 'Revert last change' }).click();
      await page.getByText('Budget of One set to $1.00').waitFor();
      expect(await limits()).toEqual(before);
      expect(takeProblems().filter((problem) => !/\b409\b/.test(problem))).toEqual([]);
    });

    it('is read by members, who can change nothing, and ask for more', async () => {
      const member = await newMember(stage.deployment(), console.owner(), workspace, 'member');
      for (const look of LOOKS) {
        const { page, expectFit, close } = await console.browser.visit(look, member);
        await page.goto(`/w/${workspace.slug}/budgets`);
        const sheet = page.getByRole('table', { name: 'All budgets' });
        await sheet.getByRole('row', { name: 'Each agent' }).getByText('90%').waitFor();
        await expectFit();
        const buttons = await page.getByRole('main').getByRole('button').evaluateAll(NAMES);
        const [asks, others] = [true, false].map((isAsk) =>
          buttons.filter((name) => name?.startsWith('Ask for more: ') === isAsk),
        );
        expect(asks).toEqual(['Each agent', 'Calm', 'One', 'Three', 'Two'].map((name) => `Ask for more: ${name}`));
        expect(others!.filter((name) => name !== 'Download CSV')).toEqual(['Show values: Each agent']);
        expect(await page.getByRole('main').getByRole('checkbox').count()).toBe(0);
        await close();
      }
    });

    it('has its budgets at risk on the overview, each with a link to its row', async () => {
      const { page } = await console.open(desktop, '', workspace);
      const attention = cardOf(page, 'Needs attention');
      const atRisk = attention.getByRole('listitem').filter({ hasText: /Each agent for reader/ });
      await atRisk.getByText('%').waitFor();
      expect(await attention.getByText('Calm').count()).toBe(0);
      await atRisk.getByRole('link').click();
      await page.waitForURL(/budgets\?.*budget=bud_/);
      await page.getByRole('button', { name: 'Edit: Each agent' }).and(page.locator(':focus')).waitFor();
    });

    it('draws the rows in sight of a long list, and finds those that are not', async () => {
      const path = workspace.path('/budgets');
      for (let index = 0; index < MANY; index += 1) {
        const body = { name: `Team ${index}`, ...QUIET, limit_micros: index };
        await console.owner().expect({ method: 'POST', path, body, status: 201 });
      }
      const { page } = await console.open(desktop, '/budgets?sort=limit', workspace);
      const sheet = page.getByRole('table', { name: 'All budgets' });
      await sheet.locator('tr[aria-rowindex="2"]').waitFor();
      expect(await sheet.getAttribute('aria-rowcount')).toBe(String(MANY + 6));
      expect(await sheet.getByRole('row').count()).toBeLessThan(60);
      await page.getByRole('searchbox', { name: 'Find a budget' }).fill('team 0');
      await page.getByRole('button', { name: 'Edit: Team 0' }).click();
      await page.getByLabel('Limit of Team 0, in USD').fill('3');
      await page.keyboard.press('Enter');
      await page.getByText('Budget of Team 0 set to $3.00').waitFor();
    });
  });
}

const REFUSAL = { error: 'The budget is locked.', code: 'conflict', request_id: 'req_1' };

/** Names of the elements, for a function that runs in the page. */
const NAMES = (elements: { ariaLabel: string | null; textContent: string | null }[]) =>
  elements.map(({ ariaLabel, textContent }) => ariaLabel ?? textContent);

async function paste(page: Page, column: string): Promise<void> {
  await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(column)})`);
  await page.keyboard.press('Control+v');
}
