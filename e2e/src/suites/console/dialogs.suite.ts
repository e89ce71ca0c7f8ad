import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import type { Page } from 'playwright-core';
import { anonymous } from '../../api.client.ts';
import { LOOKS } from '../../browser.ts';
import { rowOf } from '../../console/person.ts';
import type { useWorkspaceInBrowser } from '../../console/workspace.stage.ts';
import type { Stage } from '../../deployment.ts';
import { budgetBlocked } from '../../events.ts';
import { rememberSecret } from '../../secrets.ts';
import { acceptance, invite, newWorkspace, postEvents, type TestWorkspace } from '../../workspace.ts';

interface Opened {
  below: string;
  /** Presses what opens it. */
  open: (page: Page) => Promise<void>;
  name: RegExp | string;
}

const press = (name: RegExp | string) => (page: Page) => page.getByRole('button', { name }).first().click();
const pressInRow = (row: string, name: RegExp | string) => (page: Page) =>
  rowOf(page, row).getByRole('button', { name }).first().click();

/** Every dialog and drawer that opens with a press, and closes with another. */
const DIALOGS: Opened[] = [
  { below: '', open: (page) => page.keyboard.press('Control+k'), name: 'Go anywhere' },
  { below: '/agents', open: press('New agent'), name: 'New agent' },
  { below: '/agents/agent-1', open: press('Rename'), name: 'Rename agent-1' },
  { below: '/blocked', open: pressInRow('agent-1', /:/), name: 'Blocked call' },
  { below: '/blocked?run=run-1', open: async () => undefined, name: 'Run run-1' },
  { below: '/budgets', open: press('New plan'), name: 'New plan' },
  { below: '/budgets', open: pressInRow('Research', /^Edit Research/), name: 'Edit Research' },
  { below: '/budgets', open: pressInRow('Research', /^Delete/), name: 'Delete the plan Research' },
  { below: '/limits', open: pressInRow('agent-1', 'Release'), name: 'Release the hold of agent-1' },
  { below: '/alerts', open: press('Often'), name: 'Often' },
  { below: '/rules', open: press('New rule'), name: 'New rule' },
  { below: '/rules', open: press('Often'), name: 'Edit Often' },
  { below: '/rules', open: press(/^Delete/), name: 'Delete the rule Often' },
  { below: '/channels', open: press('New channel'), name: 'New channel' },
  { below: '/channels', open: press('Room'), name: 'Edit Room' },
  { below: '/channels', open: press('Send a test'), name: 'Send a test: Room' },
  { below: '/channels', open: press(/^Delete/), name: 'Delete the channel Room' },
  { below: '/keys', open: press('New key'), name: 'New key' },
  { below: '/keys', open: press(/^Revoke/), name: /^Revoke the key/ },
  { below: '/members', open: press('Invite somebody'), name: 'Invite somebody' },
  { below: '/members', open: press(/^Revoke the invitation/), name: /^Revoke the invitation/ },
  { below: '/members', open: press(/^Remove colleague/), name: /^Remove colleague/ },
  { below: '/settings', open: press('Leave this workspace'), name: 'Leave this workspace' },
  {
    below: '/members',
    open: async (page) => {
      await rowOf(page, 'colleague').getByRole('combobox').selectOption('owner');
    },
    name: /^Make colleague.* owner$/,
  },
];

export function describeConsoleDialogs(stage: Stage, console: ReturnType<typeof useWorkspaceInBrowser>): void {
  let workspace: TestWorkspace;

  beforeAll(async () => {
    const owner = console.owner();
    workspace = await newWorkspace(owner);
    const create = async (path: string, body: object) =>
      (await owner.expect<{ id: string }>({ method: 'POST', path, body, status: 201 })).id;
    const plan = { plan_key: 'research', display_name: 'Research', daily_budget_usd_micros: 5_000_000 };
    await create(`/api/v1/workspaces/${workspace.id}/budgets/plans`, plan);
    await invite(owner, workspace, 'member');
    const colleague = { name: 'colleague', password: randomUUID() };
    rememberSecret(colleague.password);
    const token = await invite(owner, workspace, 'member');
    await anonymous(stage.deployment()).expect(acceptance(token, colleague));
    const config = { url: `${stage.receiver().url}/dialogs`, signing_secret: 'a-secret-of-more-than-16-bytes' };
    const channel = await create(workspace.path('/alerts/channels'), { channel_type: 'webhook', name: 'Room', config });
    await create(workspace.path('/alerts/rules'), {
      ...{ name: 'Often', severity: 'high', scope_type: 'workspace', scope_id: workspace.id },
      rule_kind: 'event_count_gte',
      rule_config: { window_seconds: 600, threshold: 1, filters: { event_types: ['budget.blocked'] } },
      channel_config_ids: [channel],
    });
    await eventually(async () => {
      await postEvents(stage.deployment(), workspace.apiKey, budgetBlocked('run-1', 'agent-1'));
      const { total } = await owner.expect<{ total: number }>({ path: workspace.path('/alerts') });
      if (total === 0) throw new Error('the rule has not fired yet');
    });
    const path = `/api/v1/workspaces/${workspace.id}/budgets/workspace`;
    await owner.expect({ method: 'PUT', path, body: { daily_budget_usd_micros: 50_000_000 } });
    const headers = { authorization: `Bearer ${workspace.apiKey}` };
    const body = { request_id: 'held', agent_id: 'agent-1', run_id: 'run-1', amount_micros: 2_500_000 };
    await owner.expect({ method: 'POST', path: '/api/v1/reservations', body, headers, status: 201 });
  });

  describe.each(LOOKS)('every dialog and drawer, at $size size and $theme', (look) => {
    afterEach(() => console.closeAll());

    it('is named after what it is about, and is fit for everybody', async () => {
      const { page, expectFit } = await console.open(look, '');
      for (const { below, open, name } of DIALOGS) {
        await page.goto(`/w/${workspace.slug}${below}`);
        await page.locator('h1').waitFor();
        await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' });
        await open(page);
        const dialog = page.getByRole('dialog', { name });
        await dialog.waitFor();
        await dialog.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' });
        await expectFit();
      }
    });

    it('of the whole page, and of a session that ended, is fit for everybody', async () => {
      const { page, expectFit, takeProblems } = await console.open(look, '');
      if (look.size === 'phone') await page.getByRole('button', { name: 'Menu' }).click();
      await expectFit();
      await page.getByRole('button', { name: 'End to end' }).click();
      await page.getByRole('dialog', { name: 'Workspace and time zone' }).waitFor();
      await expectFit();
      await page.keyboard.press('Escape');
      await page.context().clearCookies();
      await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
      await expectFit();
      // What is still under way is answered too, before the page is looked at for the last time.
      await page.goto('about:blank');
      // Everything that was asked without a session, and nothing else.
      expect(takeProblems().filter((problem) => !problem.includes('401'))).toEqual([]);
    });
  });
}
