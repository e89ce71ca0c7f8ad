import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import { anonymous } from '../../api.client.ts';
import { LOOKS } from '../../browser.ts';
import { cardOf, drawFinger, rowOf, undo } from '../../console/person.ts';
import type { useWorkspaceInBrowser } from '../../console/workspace.stage.ts';
import type { Stage } from '../../deployment.ts';
import { budgetBlocked, cloudEvent, spendSettled } from '../../events.ts';
import { newWorkspace, postEvents, type TestWorkspace } from '../../workspace.ts';

const MINUTE_MS = 60_000;
/** Shorter than any other reservation may be. */
const SHORTEST_TTL_SECONDS = 10;

export function describeConsoleMoney(stage: Stage, console: ReturnType<typeof useWorkspaceInBrowser>): void {
  describe.each(LOOKS)('where the money goes, at $size size and $theme', (look) => {
    afterEach(() => console.closeAll());

    it('stands on the overview to the micro, with what is left of the budget and who spent it', async () => {
      const { page } = await console.open(look, '');
      await page.getByTitle('$14.345678', { exact: true }).first().waitFor();
      await page.getByText('of $50.00').waitFor();
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

    it('is compared with the time before', async () => {
      const workspace = await newWorkspace(console.owner());
      const at = (minutes: number) => new Date(Date.now() - minutes * MINUTE_MS).toISOString();
      const blocked = (minutes: number) => ({ ...budgetBlocked('run-1'), time: at(minutes) });
      await postEvents(stage.deployment(), workspace.apiKey, [
        spendSettled({ amountMicros: 2_000_000, time: at(22) }),
        spendSettled({ amountMicros: 3_000_000, time: at(3) }),
        ...[blocked(22), blocked(22), blocked(3)],
      ]);
      const { page } = await console.open(look, '');
      await page.goto(`/w/${workspace.slug}?range=15min`);
      await cardOf(page, 'Spend').getByText('▲ up 50% vs the previous 15 minutes').waitFor();
      await cardOf(page, 'Blocked calls').getByText('▼ down 50% vs the previous 15 minutes').waitFor();
    });

    it('follows automatically while the page is open', async () => {
      const workspace = await newWorkspace(console.owner());
      const { page } = await console.open(look, '');
      await page.goto(`/w/${workspace.slug}`);
      await page.getByText('No spend in this time range').waitFor();
      await page
        .getByRole('group', { name: /^Spend by agent/ })
        .getByText('No data in this time range')
        .waitFor();
      await postEvents(
        stage.deployment(),
        workspace.apiKey,
        spendSettled({ agentId: 'late', amountMicros: 1_000_000 }),
      );
      await rowOf(page, 'late').getByText('$1.00').waitFor();
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

    it('has the tokens where they are known, in totals and tables: short, and the whole number on hover', async () => {
      const workspace = await newWorkspace(console.owner());
      const call = spendSettled({ agentId: 'reader', amountMicros: 1_000_000 });
      const counted = { ...call, data: { ...call.data, input_tokens: 1_234_567, output_tokens: 45_678 } };
      const uncounted = { settlement_id: randomUUID(), run_id: 'run-2', agent_id: 'silent', amount_micros: 1 };
      const post = (event: typeof call) => postEvents(stage.deployment(), workspace.apiKey, [event]);
      await post(cloudEvent('spend.settled', uncounted));
      const { page } = await console.open(look, '');
      await page.goto(`/w/${workspace.slug}`);
      await cardOf(page, 'Per settlement').getByText('– tokens in, – out').waitFor();
      await page.goto(`/w/${workspace.slug}/spend`);
      await cardOf(page, 'Tokens').getByText('–', { exact: true }).waitFor();
      await post(counted);
      expect(await cardOf(page, 'Tokens').getByTitle('1,234,567').textContent()).toBe('1.2M');
      expect(await cardOf(page, 'Tokens').getByTitle('45,678').textContent()).toBe('45.7K');
      if (look.size === 'phone') return;
      await rowOf(page, 'reader').getByRole('cell', { name: '1.2M / 45.7K' }).waitFor();
      await rowOf(page, 'silent').getByRole('cell', { name: '–' }).waitFor();
    });

    it('of a chart is read by keyboard alone', async () => {
      const { page } = await console.open(look, '/spend');
      const chart = page.getByRole('group', { name: /Spend over time/ });
      await chart.focus();
      await page.keyboard.press('End');
      // The last hour, or the one before it where another has begun since.
      await eventually(async () => {
        if (await chart.getByText('$14.345678').isVisible()) return;
        await page.keyboard.press('ArrowLeft');
        throw new Error('no bar has the spend yet');
      });
      await page.keyboard.press('Escape');
      await chart.getByText('$14.345678').waitFor({ state: 'detached' });
    });

    it('of a day of 25 hours is told apart where the clock shows an hour twice', async () => {
      const workspace = await newWorkspace(console.owner(), 'Europe/Zurich');
      await postEvents(stage.deployment(), workspace.apiKey, [spendSettled({ amountMicros: 1 })]);
      const { page } = await console.open(look, '');
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

    it('of one agent has its models, its last calls and what was blocked; its owner renames it, and takes that back', async () => {
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

  describe('where the money goes, under a finger', () => {
    afterEach(() => console.closeAll());

    it('is told by the bar below it, also where it is drawn to another one, and stays when it is lifted', async () => {
      const { page } = await console.open(LOOKS[1]!, '/spend');
      const chart = page.getByRole('group', { name: /Spend over time/ });
      await chart.scrollIntoViewIfNeeded();
      const { x, y, width, height } = (await chart.boundingBox())!;
      const middle = y + height / 2;
      // The first hour of the day, which had begun before anything was spent, or has all that was.
      await page.touchscreen.tap(x + 60, middle);
      await chart.getByText(/, 00:00:00/).waitFor();
      await drawFinger(page, { x: x + 60, y: middle }, { x: x + width - 3, y: middle });
      await chart.getByText('in progress').waitFor();
    });
  });

  describe.each(LOOKS)('a budget, at $size size and $theme', (look) => {
    afterEach(() => console.closeAll());

    it('stands beside what is used, held and left of it today, and is found by the name of its agent', async () => {
      const workspace = await newWorkspace(console.owner());
      const events = ['reader', 'writer'].map((agentId) => spendSettled({ agentId, amountMicros: 1_250_000 }));
      await postEvents(stage.deployment(), workspace.apiKey, events);
      const path = `/api/v1/workspaces/${workspace.id}/budgets/agents/reader`;
      const body = { daily_budget_usd_micros: 5_000_000 };
      // Not before the agent is known.
      await eventually(() => console.owner().expect({ method: 'PUT', path, body }));
      const { page } = await console.open(look, '');
      await page.goto(`/w/${workspace.slug}/budgets`);
      await page.getByRole('button', { name: 'Set budget: writer' }).waitFor();
      await page.getByRole('searchbox', { name: 'Find an agent' }).fill('READ');
      await page.waitForURL(/agents=READ/);
      const agents = page.getByRole('table', { name: 'Agents' });
      await agents.getByRole('row', { name: 'writer' }).waitFor({ state: 'detached' });
      if (look.size === 'desktop') {
        await agents.getByRole('row', { name: /^reader \$5\.00 Edit: reader \$1\.25 \$0\.00 \$3\.75/ }).waitFor();
      }
      const change = page
        .getByRole('table', { name: 'Changes' })
        .getByRole('row', { name: /Agent reader no budget \$5/ });
      // Ages, with the time itself on hover.
      expect(await change.getByText(/ago|just now/).getAttribute('title')).toMatch(
        /^\d+ \w+ \d{4}, \d\d:\d\d:\d\d UTC$/,
      );

      await agents.getByRole('link', { name: 'reader' }).click();
      await page.getByText('Today: $1.25 spent, $0.00 held, $3.75 left').waitFor();
      await page.getByRole('button', { name: 'Edit: reader' }).click();
      await page.getByLabel('Daily budget of reader, in USD').fill('8');
      await page.keyboard.press('Enter');
      await page.getByText('Today: $1.25 spent, $0.00 held, $6.75 left').waitFor();
    });

    it('is changed where it stands, by keyboard alone, and the change is taken back', async () => {
      const { page } = await console.open(look, '/budgets');
      const budgetOfWorkspace = async () => {
        const path = `/api/v1/workspaces/${console.workspace().id}/budgets/workspace`;
        return (await console.owner().expect<{ daily_budget_usd_micros: number }>({ path })).daily_budget_usd_micros;
      };
      await page.getByRole('button', { name: 'Edit: End to end' }).press('Enter');
      await page.keyboard.press('Control+a');
      await page.keyboard.type('60.000001');
      await page.keyboard.press('Enter');
      await page.getByText('Budget of End to end set to $60.000001').waitFor();
      expect(await budgetOfWorkspace()).toBe(60_000_001);
      await page.getByRole('button', { name: 'Undo' }).press('Enter');
      await page.getByText('Budget of End to end set to $50.00').waitFor();
      expect(await budgetOfWorkspace()).toBe(50_000_000);
      const changes = page.getByRole('table', { name: 'Changes' });
      await changes
        .getByRole('row', { name: /Workspace \$60\.00 \$50\.00/ })
        .first()
        .waitFor();
    });

    it('that is no amount, or is used up already, is not saved without a word', async () => {
      const { page, expectFit } = await console.open(look, '/budgets');
      await page.getByRole('button', { name: 'Edit: End to end' }).click();
      const field = page.getByLabel('Daily budget of End to end, in USD');
      await field.fill('twelve');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Enter an amount in US dollars').waitFor();
      await expectFit();
      await field.fill('1');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('its calls are blocked until the daily reset').waitFor();
      await page.getByRole('button', { name: 'Cancel' }).click();
      await page.getByText('$50.00').first().waitFor();
    });

    it('of an agent is set from nothing and removed; of a plan is made, edited, deactivated and deleted with a warning', async () => {
      const { page, expectFit } = await console.open(look, '/budgets');
      await page.getByRole('button', { name: 'Set budget: writer' }).click();
      await page.getByLabel('Daily budget of writer, in USD').fill('7.5');
      await page.keyboard.press('Enter');
      await page.getByText('Budget of writer set to $7.50').waitFor();
      await page.getByRole('button', { name: 'Edit: writer' }).click();
      await page.getByLabel('Daily budget of writer, in USD').fill('');
      await page.keyboard.press('Enter');
      await page.getByText('Budget of writer removed').waitFor();

      await page.getByRole('button', { name: 'New plan' }).click();
      const dialog = page.getByRole('dialog', { name: 'New plan' });
      await expectFit();
      await dialog.getByLabel('Key').fill(`research_${look.size}`);
      await dialog.getByLabel('Name').fill(`Research ${look.size}`);
      await dialog.getByLabel('Daily budget in USD').fill('3');
      await dialog.getByRole('button', { name: 'Save' }).click();
      // Among the plans: the history of budgets names a deleted plan by its key.
      const plans = page.getByRole('table', { name: 'Plans' });
      const row = plans.getByRole('row').filter({ hasText: `research_${look.size}` });
      await row.getByText('$3.00').first().waitFor();
      await row.getByRole('button', { name: `Edit: Research ${look.size}` }).click();
      await row.getByLabel(`Daily budget of Research ${look.size}, in USD`).waitFor();
      await expectFit();
      await page.keyboard.press('Escape');
      await row.getByRole('button', { name: `Edit Research ${look.size}` }).click();
      const form = page.getByRole('dialog', { name: `Edit Research ${look.size}` });
      await form.getByLabel('Name').fill(`Studies ${look.size}`);
      await form.getByLabel('Description').fill('Reading');
      await form.getByLabel('Daily budget in USD').fill('four');
      await form.getByRole('button', { name: 'Save' }).click();
      await form.getByText('Enter an amount in US dollars').waitFor();
      await form.getByLabel('Daily budget in USD').fill('4');
      await form.getByRole('button', { name: 'Save' }).click();
      await page.getByText(`Plan Studies ${look.size} saved`).waitFor();
      await row.getByText(`Studies ${look.size}`).waitFor();
      await row.getByText('$4.00').first().waitFor();
      type Plans = { items: { plan_key: string; description: string }[] };
      const path = `/api/v1/workspaces/${console.workspace().id}/budgets/plans`;
      const { items } = await console.owner().expect<Plans>({ path });
      expect(items.find(({ plan_key }) => plan_key === `research_${look.size}`)).toMatchObject({
        ...{ display_name: `Studies ${look.size}`, description: 'Reading', daily_budget_usd_micros: 4_000_000 },
      });
      await row.getByRole('button', { name: 'Deactivate' }).click();
      await row.getByText('Inactive').waitFor();
      await row.getByRole('button', { name: /^Delete/ }).click();
      const warning = page.getByRole('dialog', { name: `Delete plan Studies ${look.size}` });
      await expectFit();
      await warning.getByRole('button', { name: 'Delete' }).click();
      await row.waitFor({ state: 'detached' });
    });

    it('of each of two plans is deactivated, and each can be undone on its own', async () => {
      const workspace = await newWorkspace(console.owner());
      const plans = `/api/v1/workspaces/${workspace.id}/budgets/plans`;
      for (const name of ['Research', 'Support']) {
        const body = { plan_key: name.toLowerCase(), display_name: name, daily_budget_usd_micros: 3_000_000 };
        await console.owner().expect({ method: 'POST', path: plans, body, status: 201 });
      }
      const active = async () => {
        type Plans = { items: { plan_key: string; is_active: boolean }[] };
        const { items } = await console.owner().expect<Plans>({ path: plans });
        return items.filter(({ is_active }) => is_active).map(({ plan_key }) => plan_key);
      };
      const { page } = await console.open(look, '');
      await page.goto(`/w/${workspace.slug}/budgets`);
      await rowOf(page, 'research').getByRole('button', { name: 'Deactivate' }).click();
      await rowOf(page, 'support').getByRole('button', { name: 'Deactivate' }).click();
      await rowOf(page, 'research').getByText('Inactive').waitFor();
      await rowOf(page, 'support').getByText('Inactive').waitFor();
      expect(await active()).toEqual([]);
      await undo(page, 'Plan Research deactivated');
      await page.getByText('Plan Research activated').waitFor();
      await rowOf(page, 'research').getByText('Inactive').waitFor({ state: 'detached' });
      expect(await active()).toEqual(['research']);
      await undo(page, 'Plan Support deactivated');
      await rowOf(page, 'support').getByText('Inactive').waitFor({ state: 'detached' });
      expect(await active()).toEqual(['research', 'support']);
    });

    it('shows on the limits what is held; an owner releases a reservation', async () => {
      const runId = `held-${look.size}`;
      const body = { request_id: runId, agent_id: 'planner', run_id: runId, amount_micros: 2_500_000 };
      const headers = { authorization: `Bearer ${console.workspace().apiKey}` };
      await eventually(async () => {
        const { status } = await console.owner().call({ method: 'POST', path: '/api/v1/reservations', body, headers });
        expect([200, 201]).toContain(status);
      });
      const { page, expectFit } = await console.open(look, '/limits');
      await page.getByRole('img', { name: /\$2\.50 held of \$50\.00/ }).waitFor();
      await page.getByRole('button', { name: 'Release', exact: true }).click();
      const dialog = page.getByRole('dialog', { name: 'Release the reservation of planner' });
      await dialog.getByText('$2.50 becomes available to other calls.').waitFor();
      await expectFit();
      await dialog.getByRole('button', { name: 'Release' }).click();
      await page.getByText('Reservation released').waitFor();
      await page.getByRole('img', { name: /\$0\.00 held of \$50\.00/ }).waitFor();
      await page.getByRole('button', { name: 'Released', exact: true }).click();
      await page.waitForURL(/state=released/);
      await page.getByRole('table', { name: 'Reservations' }).getByText('$2.50').first().waitFor();
    });
  });
  describe('unreserved spend', () => {
    let workspace: TestWorkspace;
    afterEach(() => console.closeAll());

    beforeAll(async () => {
      workspace = await newWorkspace(console.owner());
      const budget = `/api/v1/workspaces/${workspace.id}/budgets/workspace`;
      await console.owner().expect({ method: 'PUT', path: budget, body: { daily_budget_usd_micros: 9_000_000 } });
      const headers = { authorization: `Bearer ${workspace.apiKey}` };
      const call = (below: string, body: object) =>
        eventually(async () => {
          const request = { method: 'POST', path: `/api/v1/reservations${below}`, body, headers };
          const answer = await anonymous(stage.deployment()).call(request);
          expect([200, 201]).toContain(answer.status);
          return answer.body as { reservation: { id: string } };
        });
      const reserve = async (ttl_seconds: number) => {
        const wanted = { request_id: randomUUID(), agent_id: 'reader', run_id: 'run-1', amount_micros: 1_000_000 };
        return (await call('', { ...wanted, ttl_seconds })).reservation.id;
      };
      const settle = (id: string, amount_micros: number) =>
        call(`/${id}:settle`, { settlement_id: randomUUID(), amount_micros });
      const short = await reserve(SHORTEST_TTL_SECONDS);
      await settle(await reserve(600), 1_250_000);
      await postEvents(
        stage.deployment(),
        workspace.apiKey,
        spendSettled({ agentId: 'reader', amountMicros: 500_000 }),
      );
      await eventually(async () => {
        const { body } = await anonymous(stage.deployment()).call({ path: `/api/v1/reservations/${short}`, headers });
        expect(body).toMatchObject({ state: 'expired' });
      });
      await settle(short, 750_000);
    });

    it.each(LOOKS)('stands on the limits by its cause, at $size size and $theme', async (look) => {
      const { page, expectFit } = await console.open(look, '');
      await page.goto(`/w/${workspace.slug}/limits`);
      const passed = page.getByRole('table', { name: 'Unreserved spend today' });
      await passed.getByRole('row', { name: 'Workspace $0.25 $0.75 $0.50' }).waitFor();
      const heads = await passed.getByRole('columnheader').allTextContents();
      expect(heads).toEqual(['Scope', 'Over the reservation', 'After it expired', 'Not reserved']);
      const figures = look.size === 'phone' ? / \$2\.50 \$6\.50$/ : / \$2\.50 \$0\.00 \$6\.50 \$9\.00 0$/;
      await page.getByRole('table', { name: 'Limits' }).getByRole('row', { name: figures }).waitFor();
      await expectFit();
    });
  });
}
