import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import { anonymous } from '../../api.client.ts';
import { inOneLook, LOOKS } from '../../browser.ts';
import type { useWorkspaceInBrowser } from '../../console/workspace.stage.ts';
import type { Stage } from '../../deployment.ts';
import { spendSettled } from '../../events.ts';
import { newWorkspace, reportEvents, type TestWorkspace } from '../../workspace.ts';

/** The shortest that a reservation may be. */
const SHORTEST_TTL_SECONDS = 10;

export function describeConsoleBudgets(stage: Stage, console: ReturnType<typeof useWorkspaceInBrowser>): void {
  /** The workspace of unreserved spend. A reservation in it expires while earlier tests use the others. */
  let workspace: TestWorkspace;
  let short: string;

  beforeAll(async () => {
    workspace = await newWorkspace(console.owner());
    const budget = `/api/v1/workspaces/${workspace.id}/budgets/workspace`;
    await console.owner().expect({ method: 'PUT', path: budget, body: { daily_budget_usd_micros: 9_000_000 } });
    short = await reserve(SHORTEST_TTL_SECONDS);
  });

  function reservations(below: string, body: object): Promise<{ reservation: { id: string } }> {
    const headers = { authorization: `Bearer ${workspace.apiKey}` };
    return eventually(async () => {
      const request = { method: 'POST', path: `/api/v1/reservations${below}`, body, headers };
      const answer = await anonymous(stage.deployment()).call(request);
      expect([200, 201]).toContain(answer.status);
      return answer.body as { reservation: { id: string } };
    });
  }

  async function reserve(ttl_seconds: number): Promise<string> {
    const wanted = { request_id: randomUUID(), agent_id: 'reader', run_id: 'run-1', amount_micros: 1_000_000 };
    return (await reservations('', { ...wanted, ttl_seconds })).reservation.id;
  }

  describe.each(LOOKS)('a budget, at $size size and $theme', (look) => {
    afterEach(() => console.closeAll());

    inOneLook(look)(
      'stands beside what is spent of it, is found by its name, and is set on the page of its agent',
      async () => {
        const workspace = await newWorkspace(console.owner());
        const events = ['reader', 'writer'].map((agentId) => spendSettled({ agentId, amountMicros: 1_250_000 }));
        await reportEvents(stage.deployment(), workspace.apiKey, events);
        for (const agent of ['reader', 'writer']) {
          const path = `/api/v1/workspaces/${workspace.id}/budgets/agents/${agent}`;
          const body = { daily_budget_usd_micros: 5_000_000 };
          // Fails until the agent is known.
          await eventually(() => console.owner().expect({ method: 'PUT', path, body }));
        }
        const { page } = await console.open(look, '/budgets', workspace);
        const sheet = page.getByRole('table', { name: 'All budgets' });
        await sheet.getByRole('row', { name: 'writer' }).waitFor();
        await page.getByRole('searchbox', { name: 'Find a budget' }).fill('READ');
        await page.waitForURL(/find=READ/);
        await sheet.getByRole('row', { name: 'writer' }).waitFor({ state: 'detached' });
        const row = sheet.getByRole('row', { name: /^(Select reader )?reader Agent reader may spend \$5\.00 a day/ });
        await row.getByText('25%').waitFor();
        await row.getByRole('cell', { name: '$1.25', exact: true }).first().waitFor();
        const change = page
          .getByRole('table', { name: 'Changes' })
          .getByRole('row', { name: /Agent reader no budget \$5/ });
        // Relative times, with the exact time on hover.
        expect(await change.getByText(/ago|just now/).getAttribute('title')).toMatch(
          /^\d+ \w+ \d{4}, \d\d:\d\d:\d\d UTC$/,
        );

        await sheet.getByRole('link', { name: 'reader' }).click();
        await page.getByText('Today: $1.25 spent, $0.00 held, $3.75 left').waitFor();
        const edit = page.getByRole('button', { name: 'Edit: reader' });
        const field = page.getByLabel('Daily budget of reader, in USD');
        await edit.click();
        await field.fill('8');
        await page.keyboard.press('Enter');
        await page.getByText('Today: $1.25 spent, $0.00 held, $6.75 left').waitFor();
        await edit.click();
        await field.fill('');
        await page.keyboard.press('Enter');
        await page.getByText('Budget of reader removed').waitFor();
        await page.getByRole('button', { name: 'Set budget: reader' }).click();
        await field.fill('7.5');
        await page.keyboard.press('Enter');
        await page.getByText('Budget of reader set to $7.50').waitFor();
      },
    );

    inOneLook(look)('is changed where it stands, by keyboard alone, and the change is taken back', async () => {
      const { page } = await console.open(look, '/budgets');
      const budgetOfWorkspace = async () => {
        const path = `/api/v1/workspaces/${console.workspace().id}/budgets/workspace`;
        return (await console.owner().expect<{ daily_budget_usd_micros: number }>({ path })).daily_budget_usd_micros;
      };
      await page.getByRole('button', { name: 'Edit: Workspace' }).press('Enter');
      await page.keyboard.press('Control+a');
      await page.keyboard.type('60.000001');
      await page.keyboard.press('Enter');
      await page.getByText('Budget of Workspace set to $60.000001').waitFor();
      expect(await budgetOfWorkspace()).toBe(60_000_001);
      await page.getByRole('button', { name: 'Undo' }).press('Enter');
      await page.getByText('Budget of Workspace set to $50.00').waitFor();
      expect(await budgetOfWorkspace()).toBe(50_000_000);
      const changes = page.getByRole('table', { name: 'Changes' });
      await changes
        .getByRole('row', { name: /Workspace \$60\.00 \$50\.00/ })
        .first()
        .waitFor();
    });

    it('that is no amount, or is used up already, is not saved without a word', async () => {
      const { page, expectFit } = await console.open(look, '/budgets');
      await page.getByRole('button', { name: 'Edit: Workspace' }).click();
      const field = page.getByLabel('Limit of Workspace, in USD');
      for (const bad of ['twelve', '']) {
        await field.fill(bad);
        await page.getByRole('button', { name: 'Save' }).click();
        await page.getByText('Enter an amount in US dollars').waitFor();
      }
      await expectFit();
      await field.fill('1');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('calls are blocked until it resets').waitFor();
      await page.getByRole('button', { name: 'Cancel' }).click();
      await page.getByText('$50.00').first().waitFor();
    });

    it('of a plan is made, edited, deactivated and deleted with a warning', async () => {
      const { page, expectFit } = await console.open(look, '/budgets');
      await page.getByRole('button', { name: 'New plan' }).click();
      const dialog = page.getByRole('dialog', { name: 'New plan' });
      await expectFit();
      await dialog.getByLabel('Key').fill(`research_${look.size}`);
      await dialog.getByLabel('Name').fill(`Research ${look.size}`);
      await dialog.getByLabel('Daily budget in USD').fill('3');
      await dialog.getByRole('button', { name: 'Save' }).click();
      const sheet = page.getByRole('table', { name: 'All budgets' });
      const row = sheet.getByRole('row').filter({ hasText: `Plan research_${look.size}` });
      await row.getByText('$3.00', { exact: true }).waitFor();
      await row.getByRole('button', { name: `Edit: Research ${look.size}` }).click();
      await row.getByLabel(`Limit of Research ${look.size}, in USD`).waitFor();
      await expectFit();
      await page.keyboard.press('Escape');
      await row.getByRole('button', { name: `Edit Research ${look.size}` }).click();
      const form = page.getByRole('dialog', { name: `Edit Research ${look.size}` });
      await form.getByLabel('Name').fill(`Studies ${look.size}`);
      await form.getByLabel('Description').fill('Reading');
      await form.getByLabel('Limit in USD').fill('four');
      await form.getByRole('button', { name: 'Save' }).click();
      await form.getByText('Enter an amount in US dollars').waitFor();
      await form.getByLabel('Limit in USD').fill('4');
      await form.getByLabel('Active').uncheck();
      await form.getByRole('button', { name: 'Save' }).click();
      await page.getByText(`Budget Studies ${look.size} saved`).waitFor();
      await row.getByText('Inactive').waitFor();
      await row.getByText('$4.00', { exact: true }).waitFor();
      type Plans = { items: { plan_key: string; description: string }[] };
      const path = `/api/v1/workspaces/${console.workspace().id}/budgets/plans`;
      const { items } = await console.owner().expect<Plans>({ path });
      expect(items.find(({ plan_key }) => plan_key === `research_${look.size}`)).toMatchObject({
        ...{ display_name: `Studies ${look.size}`, description: 'Reading', is_active: false },
        ...{ daily_budget_usd_micros: 4_000_000 },
      });
      await row.getByRole('button', { name: `Edit Studies ${look.size}` }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
      const warning = page.getByRole('dialog', { name: `Delete budget Studies ${look.size}` });
      await warning.getByText('This deletes the plan.').waitFor();
      await expectFit();
      await warning.getByRole('button', { name: 'Delete' }).click();
      await row.waitFor({ state: 'detached' });
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

    it('shows on the limits what is left of a lease; an owner ends it', async () => {
      const amounts = { amount_micros: 3_500_000, min_micros: 1 };
      const body = { request_id: `lease-${look.size}`, agent_id: 'planner', ...amounts };
      const headers = { authorization: `Bearer ${console.workspace().apiKey}` };
      await eventually(async () => {
        const { status } = await console.owner().call({ method: 'POST', path: '/api/v1/leases', body, headers });
        expect(status).toBe(201);
      });
      const { page, expectFit } = await console.open(look, '/limits');
      const row = page.getByRole('table', { name: 'Leases' }).getByRole('row', { name: /planner/ });
      await row.getByText('$3.50').last().waitFor();
      await row.getByRole('button', { name: 'End' }).click();
      const dialog = page.getByRole('dialog', { name: 'End the lease of planner' });
      await dialog.getByText('$3.50 becomes available to other calls.').waitFor();
      await expectFit();
      await dialog.getByRole('button', { name: 'End' }).click();
      await page.getByText('Lease ended').waitFor();
      await page.getByText('No open leases').waitFor();
      await page.getByRole('img', { name: /\$0\.00 held of \$50\.00/ }).waitFor();
    });
  });
  describe('unreserved spend', () => {
    afterEach(() => console.closeAll());

    beforeAll(async () => {
      const settle = (id: string, amount_micros: number) =>
        reservations(`/${id}:settle`, { settlement_id: randomUUID(), amount_micros });
      const headers = { authorization: `Bearer ${workspace.apiKey}` };
      await settle(await reserve(600), 1_250_000);
      await reportEvents(
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
      const { page, expectFit } = await console.open(look, '/limits', workspace);
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
