import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import type { Page } from 'playwright-core';
import { inOneLook, LOOKS } from '../../browser.ts';
import { tabTo } from '../../console/person.ts';
import type { useWorkspaceInBrowser } from '../../console/workspace.stage.ts';
import type { Stage } from '../../deployment.ts';
import { budgetBlocked, cloudEvent, spendSettled } from '../../events.ts';
import { newWorkspace, reportEvents, type TestWorkspace } from '../../workspace.ts';

const ODD = [
  '<img src=x onerror="document.title=\'broken\'">',
  '\u202Eright to left\u202C عربى',
  'x'.repeat(128),
  '🧨🧯 emoji',
];

/** More than a screen shows, and more than a table draws at once. */
const CRAWLERS = 120;

/** The budget that blocked a call, and the element that gets the focus. The last id is contained in all others. */
const BUDGETS = [
  ['workspace', 'crawler-007', 'Edit: Workspace'],
  ['plan', 'crawler-008', 'Edit: Research'],
  ['agent', 'crawler-009', 'Edit: crawler-009'],
  ['agent', 'r', 'Edit: r'],
] as const;

export function describeConsoleBlocked(stage: Stage, console: ReturnType<typeof useWorkspaceInBrowser>): void {
  describe.each(LOOKS)('a blocked call, at $size size and $theme', (look) => {
    afterEach(() => console.closeAll());

    it('shows in a drawer why, and what would unblock it, by keyboard alone', async () => {
      const { page, expectFit } = await console.open(look, '/blocked');
      const row = page.getByRole('table', { name: 'By a budget' }).getByRole('row').nth(1);
      await row.getByRole('button').first().press('Enter');
      const drawer = page.getByRole('dialog', { name: 'Blocked call' });
      await drawer
        .getByText('The call requested $0.0007. The agent had spent $0.0098 of its daily budget of $0.01.')
        .waitFor();
      await drawer.getByText('Raise the daily budget of the agent to $0.0105 or more').waitFor();
      await expectFit();
      await page.waitForURL(/event=/);
      await drawer.getByRole('button', { name: 'Raise until midnight: The agent' }).press('Enter');
      const raise = page.getByRole('dialog', { name: 'Raise The agent' });
      expect(await raise.getByLabel(/^Until/).inputValue()).toMatch(/T00:00$/);
      await expectFit();
      await page.keyboard.press('Escape');
      await raise.waitFor({ state: 'detached' });
      await page.keyboard.press('Escape');
      await drawer.waitFor({ state: 'detached' });
      expect(page.url()).not.toContain('event=');

      await row.getByRole('button').first().press('Enter');
      await tabTo(page, drawer.getByRole('link', { name: /^run/ }));
      await page.keyboard.press('Enter');
      await page.getByRole('dialog', { name: /^Run run/ }).waitFor();
      await drawer.waitFor({ state: 'detached' });
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    });

    inOneLook(look)(
      'leads to the budgets, which say that its budget is not set any more, and Back leads to the call again',
      async () => {
        const { page } = await console.open(look, '/blocked');
        const row = page.getByRole('table', { name: 'By a budget' }).getByRole('row').nth(1);
        await row.getByRole('button').first().click();
        const drawer = page.getByRole('dialog', { name: 'Blocked call' });
        await drawer.getByRole('link', { name: 'Go to budget' }).click();
        await page.getByText('The budget of this link is not set any more.').waitFor();
        await page.goBack();
        await drawer.waitFor();
      },
    );

    it('is sent to a colleague as an address, and its run shows what it spent before', async () => {
      const { page, expectFit } = await console.open(look, '/blocked?run=run-1');
      const drawer = page.getByRole('dialog', { name: 'Run run-1' });
      await drawer.getByText('spent $12.35').waitFor();
      await drawer.getByText('blocked by a budget, $0.0007 requested').waitFor();
      await expectFit();
      await drawer.getByRole('button', { name: 'Copy run ID' }).click();
      expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe('run-1');
    });

    it('has settlements in its run with their tokens by kind and where their price is from, as the agent has', async () => {
      const workspace = await newWorkspace(console.owner());
      const event = spendSettled({ agentId: 'reader', runId: 'run-7', amountMicros: 5_170 });
      delete event.data['input_tokens'];
      delete event.data['output_tokens'];
      const tokens = { input: 176, cache_read: 1024, output: 345, reasoning: 128 };
      await reportEvents(stage.deployment(), workspace.apiKey, [
        { ...event, data: { ...event.data, tokens, priced_by: 'override' } },
        budgetBlocked('run-7', 'reader'),
      ]);
      const { page, expectFit } = await console.open(look, '/blocked?run=run-7', workspace);
      const run = page.getByRole('dialog', { name: 'Run run-7' });
      await run
        .getByText('test-model, 1,200 tokens in, 345 out (1,024 cache read, 128 reasoning), workspace price')
        .waitFor();
      await expectFit();
      await page.goto(`/w/${workspace.slug}/agents/reader`);
      const recent = page.getByRole('table', { name: 'Recent settlements' });
      await recent.getByText('run-7').waitFor();
      await expectFit();
      if (look.size !== 'desktop') return;
      await recent.getByRole('cell', { name: '1,200 / 345 1,024 cache read, 128 reasoning' }).waitFor();
      await recent.getByRole('cell', { name: 'Workspace price' }).waitFor();
    });

    inOneLook(look)('by a guard gives the reason', async () => {
      const { page } = await console.open(look, '/blocked');
      await page.getByRole('button', { name: 'By a guard' }).click();
      await page.getByRole('table', { name: 'By a guard' }).getByText('pii').waitFor();
      await page.getByRole('table', { name: 'By a guard' }).getByRole('button').first().click();
      await page.getByRole('dialog').getByText('payment card number').waitFor();
    });

    it('by a budget with a selector names it, its value and its period, however odd, and leads to it', async () => {
      const workspace = await newWorkspace(console.owner());
      const period = { kind: 'month', start: '2026-11-01T00:00:00.000Z', end: '2026-12-01T00:00:00.000Z' };
      const micros = { requested_micros: 700, spent_micros: 9_800, daily_budget_usd_micros: 10_000 };
      const ofBudget = { scope: 'budget', budget_id: 'bud_1', limit_micros: 10_000, period, ...micros };
      // Without the emoji: lines may end between two of them, which looks like a broken word.
      const names = ODD.slice(0, 3);
      const events = names.map((odd) => {
        const data = { run_id: randomUUID(), agent_id: 'planner', budget_name: `Team ${odd}`, value: odd, ...ofBudget };
        return cloudEvent('budget.blocked', data);
      });
      await reportEvents(stage.deployment(), workspace.apiKey, events);
      const { page, expectFit } = await console.open(look, '/blocked', workspace);
      const rows = page.getByRole('table', { name: 'By a budget' }).getByRole('row');
      await rows.nth(names.length).waitFor();
      await expectFit();
      for (const odd of names) {
        await rows
          .filter({ hasText: `Team ${odd} for ${odd}` })
          .getByRole('button')
          .first()
          .click();
        const drawer = page.getByRole('dialog', { name: 'Blocked call' });
        await drawer
          .getByText(`Budget "Team ${odd}" for ${odd} had spent $0.0098 of its monthly limit of $0.01.`)
          .waitFor();
        await drawer.getByText('Budget period').waitFor();
        const way = drawer.getByRole('link', { name: 'Go to budget' });
        expect(await way.getAttribute('href')).toMatch(/\/budgets\?.*budget=bud_1/);
        await expectFit();
        await page.keyboard.press('Escape');
      }
      await page.goto(`/w/${workspace.slug}/agents/planner`);
      await page
        .getByRole('row')
        .filter({ hasText: `Team ${ODD[0]} for ${ODD[0]}` })
        .waitFor();
      await expectFit();
      expect(await page.title()).not.toBe('broken');
    });

    it('with odd text in its reason shows the text as it is, and breaks no layout', async () => {
      const workspace = await newWorkspace(console.owner());
      const events = ODD.map((reason) =>
        cloudEvent('guard.blocked', { run_id: randomUUID(), agent_id: 'a'.repeat(128), guard: 'pii', reason }),
      );
      await reportEvents(stage.deployment(), workspace.apiKey, events);
      await console.owner().expect({
        method: 'POST',
        path: workspace.path('/agents'),
        body: { agent_id: 'odd', display_name: ODD[0] },
        status: 201,
      });
      const { page, expectFit } = await console.open(look, '/blocked?kind=guard', workspace);
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
  describe('the budget that blocked a call', () => {
    let workspace: TestWorkspace;

    beforeAll(async () => {
      workspace = await newWorkspace(console.owner());
      const budgets = `/api/v1/workspaces/${workspace.id}/budgets`;
      const body = { daily_budget_usd_micros: 50_000_000 };
      await console.owner().expect({ method: 'PUT', path: `${budgets}/workspace`, body });
      const plan = { plan_key: 'research', display_name: 'Research', ...body };
      await console.owner().expect({ method: 'POST', path: `${budgets}/plans`, body: plan, status: 201 });
      const calls = BUDGETS.map(([scope, agent_id]) => {
        const data = { run_id: randomUUID(), agent_id, scope, plan_key: 'research' };
        const micros = { requested_micros: 700, spent_micros: 9_800, daily_budget_usd_micros: 10_000 };
        return cloudEvent('budget.blocked', { ...data, ...micros });
      });
      const spent = Array.from({ length: CRAWLERS }, (_, index) =>
        spendSettled({ agentId: `crawler-${String(index).padStart(3, '0')}`, amountMicros: 1 }),
      );
      await reportEvents(stage.deployment(), workspace.apiKey, [...spent, ...calls]);
      await eventually(async () => {
        const path = workspace.path(`/agents?limit=${CRAWLERS + 1}`);
        const { items } = await console.owner().expect<{ items: { agent_id: string }[] }>({ path });
        expect(items).toHaveLength(CRAWLERS + 1);
        for (const { agent_id } of items) {
          await console.owner().expect({ method: 'PUT', path: `${budgets}/agents/${agent_id}`, body });
        }
      });
    });

    describe.each(LOOKS)('at $size size and $theme', (look) => {
      afterEach(() => console.closeAll());

      // The size of the window only matters to where the row of a budget is, and the last one is farthest down.
      const budgets = look === LOOKS[0] ? BUDGETS : BUDGETS.slice(-1);
      it.each(budgets)('of the %s, for %s, is led to: its row is in sight, and focused', async (_, agent, button) => {
        const { page } = await console.open(look, '/blocked', workspace);
        const link = page.getByRole('link', { name: agent, exact: true });
        await page.getByRole('row').filter({ has: link }).getByRole('button').first().click();
        const way = page.getByRole('link', { name: 'Go to budget' });
        const address = (await way.getAttribute('href')) ?? '';
        await way.click();
        const edit = page.getByRole('button', { name: button, exact: true });
        await edit.and(page.locator(':focus')).waitFor();
        expect(await outOfSight(page)).toBeNull();
        // The link has no effect any more: a redrawn cell does not take the focus.
        await page.getByRole('searchbox', { name: 'Find a budget' }).focus();
        await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
        await page.evaluate('scrollTo(0, 0)');
        await edit.waitFor();
        expect(await edit.and(page.locator(':focus')).count()).toBe(0);
        // The URL alone leads to it as well.
        await page.goto(address);
        await edit.and(page.locator(':focus')).waitFor();
        expect(await outOfSight(page)).toBeNull();
        await page.keyboard.press('Enter');
        await page
          .getByLabel(/^Limit of /)
          .and(page.locator(':focus'))
          .waitFor();
      });
    });
  });
}

/** The position of the focus if it is off the screen or covered; null if it is visible. */
function outOfSight(page: Page): Promise<string | null> {
  return page.evaluate<string | null>(`(() => {
    const at = document.activeElement.getBoundingClientRect();
    const seen = document.elementFromPoint((at.left + at.right) / 2, (at.top + at.bottom) / 2);
    const inside = at.top >= 0 && at.bottom <= innerHeight && at.left >= 0 && at.right <= innerWidth;
    if (inside && document.activeElement.contains(seen)) return null;
    const covered = seen === null ? '' : ', where one sees ' + seen.outerHTML;
    return Math.round(at.top) + ' px from the top of ' + innerHeight + ' px' + covered;
  })()`);
}
