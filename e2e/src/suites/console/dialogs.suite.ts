import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import type { Locator, Page } from 'playwright-core';
import { anonymous } from '../../api.client.ts';
import { LOOKS } from '../../browser.ts';
import { passUntil } from '../../console/page.clock.ts';
import { rowOf } from '../../console/person.ts';
import type { useWorkspaceInBrowser } from '../../console/workspace.stage.ts';
import type { Stage } from '../../deployment.ts';
import { budgetBlocked } from '../../events.ts';
import { rememberSecret } from '../../secrets.ts';
import { acceptance, invite, newWorkspace, reportEvents, type TestWorkspace } from '../../workspace.ts';

interface Opened {
  below: string;
  /** The element that opens it and gets the focus back. Without it, the URL alone opens the dialog. */
  opener?: (page: Page) => Locator;
  /** The key to press there. */
  key?: string;
  /** The option to choose there. */
  option?: string;
  name: RegExp | string;
}

const button = (name: RegExp | string) => (page: Page) => page.getByRole('button', { name }).first();
const buttonIn = (row: string, name: RegExp | string) => (page: Page) =>
  rowOf(page, row).getByRole('button', { name }).first();

/** Every dialog and drawer, with how it opens. */
const DIALOGS: Opened[] = [
  {
    below: '',
    opener: (page) => page.getByRole('link', { name: 'All agents' }),
    key: 'Control+k',
    name: 'Go to',
  },
  { below: '/agents', opener: button('New agent'), name: 'New agent' },
  { below: '/agents/agent-1', opener: button('Rename'), name: 'Rename agent-1' },
  { below: '/agents/agent-1', opener: button('Edit labels'), name: 'Edit labels of agent-1' },
  { below: '/spend', opener: button('Export'), name: 'Export spend' },
  { below: '/blocked', opener: buttonIn('agent-1', /:/), name: 'Blocked call' },
  { below: '/blocked?run=run-1', name: 'Run run-1' },
  { below: '/budgets', opener: button('New plan'), name: 'New plan' },
  { below: '/budgets', opener: button('New budget'), name: 'New budget' },
  { below: '/budgets', opener: buttonIn('Research', 'Edit Research'), name: 'Edit Research' },
  { below: '/budgets', opener: buttonIn('Per user', 'Edit Per user'), name: 'Edit Per user' },
  { below: '/limits', opener: buttonIn('agent-1', 'Release'), name: 'Release the reservation of agent-1' },
  { below: '/limits', opener: button(/^Raise: /), name: /^Raise / },
  { below: '/alerts', opener: button('Often'), name: 'Often' },
  { below: '/alerts', opener: button('Silence alerts'), name: 'Silence alerts' },
  { below: '/alerts', opener: button('Add maintenance window'), name: 'Add maintenance window' },
  { below: '/rules', opener: button('New rule'), name: 'New rule' },
  { below: '/rules', opener: button('Often'), name: 'Edit Often' },
  { below: '/rules', opener: button(/^Delete/), name: 'Delete rule Often' },
  { below: '/channels', opener: button('New channel'), name: 'New channel' },
  { below: '/channels', opener: button('Room'), name: 'Edit Room' },
  { below: '/channels', opener: button('Send test'), name: 'Send test: Room' },
  { below: '/channels', opener: button(/^Delete/), name: 'Delete channel Room' },
  { below: '/prices', opener: button('Set price'), name: 'Set price' },
  { below: '/prices', opener: buttonIn('house-1', 'Change the price of house-1'), name: 'Change the price of house-1' },
  { below: '/keys', opener: button('New key'), name: 'New key' },
  { below: '/keys', opener: button(/^Edit labels/), name: /^Edit labels of/ },
  { below: '/keys', opener: button(/^Revoke/), name: /^Revoke key/ },
  { below: '/audit?action=key.create', opener: button('Created a key'), name: 'Audit record' },
  { below: '/members', opener: button('Invite member'), name: 'Invite member' },
  { below: '/members', opener: button(/^Revoke the invitation/), name: /^Revoke the invitation/ },
  { below: '/members', opener: button(/^Remove colleague/), name: /^Remove colleague/ },
  {
    below: '/members',
    opener: (page) => rowOf(page, 'colleague').getByRole('combobox'),
    option: 'owner',
    name: /^Make colleague.* owner$/,
  },
  { below: '/settings', opener: button('Leave this workspace'), name: 'Leave this workspace' },
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
    await create(workspace.path('/budgets'), {
      ...{ name: 'Per user', selector: { model: 'claude-*', labels: { team: 'growth' } }, each: 'label:user' },
      ...{ period: { kind: 'year', start_month: 4 }, limit_micros: 5_000_000, grace_percent: 10, tell_at: [90] },
    });
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
      await reportEvents(stage.deployment(), workspace.apiKey, budgetBlocked('run-1', 'agent-1'));
      const { total } = await owner.expect<{ total: number }>({ path: workspace.path('/alerts') });
      if (total === 0) throw new Error('the rule has not fired yet');
    });
    const price = { model: 'house-1', valid_from: '2026-01-01T00:00:00Z', input_micros_per_million: 2_500_000 };
    await owner.expect({ method: 'PUT', path: workspace.path('/prices'), body: price });
    const path = `/api/v1/workspaces/${workspace.id}/budgets/workspace`;
    await owner.expect({ method: 'PUT', path, body: { daily_budget_usd_micros: 50_000_000 } });
    const headers = { authorization: `Bearer ${workspace.apiKey}` };
    const call = { request_id: 'held', agent_id: 'agent-1', run_id: 'run-1', amount_micros: 2_500_000 };
    // The maximum, because the suites before this one take time.
    const body = { ...call, ttl_seconds: 3_600 };
    // On a busy machine, the check of the key may time out.
    await eventually(async () => {
      const { status } = await owner.call({ method: 'POST', path: '/api/v1/reservations', body, headers });
      expect([200, 201]).toContain(status);
    });
  });

  describe.each(LOOKS)('every dialog and drawer, at $size size and $theme', (look) => {
    afterEach(() => console.closeAll());

    it('is named after what it is about, is fit for everybody, fits the screen, and gives the focus back', async () => {
      const { page, expectFit } = await console.begin(look);
      let at: string | undefined;
      for (const { below, opener, key = 'Enter', option, name } of DIALOGS) {
        // The dialogs of a page are next to each other in the list.
        if (below !== at) {
          await page.goto(`/w/${workspace.slug}${below}`);
          await page.locator('h1').waitFor();
          await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' });
        }
        at = below;
        const place = opener?.(page);
        await place?.focus();
        if (option !== undefined) await place?.selectOption(option);
        else await place?.press(key);
        const dialog = page.getByRole('dialog', { name });
        await dialog.waitFor();
        await dialog.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' });
        await expectFit();
        await page.keyboard.press('Escape');
        await dialog.waitFor({ state: 'detached' });
        if (place === undefined) continue;
        const focused = await place.and(page.locator(':focus')).count();
        expect([String(name), focused]).toEqual([String(name), 1]);
      }
    });

    it('of the whole page, and of a session that ended, is fit for everybody', async () => {
      const { page, expectFit, takeProblems } = await console.begin(look);
      await page.clock.install();
      await page.goto(`/w/${console.workspace().slug}`);
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
      if (look.size === 'phone') await page.getByRole('button', { name: 'Menu' }).click();
      await expectFit();
      await page.getByRole('button', { name: 'End to end' }).click();
      await page.getByRole('dialog', { name: 'Workspace and time zone' }).waitFor();
      await expectFit();
      await page.keyboard.press('Escape');
      await page.context().clearCookies();
      const ended = page.getByRole('dialog', { name: 'Your session has ended' });
      await passUntil(page, async () => expect(await ended.count()).toBe(1));
      await expectFit();
      // Lets requests in flight finish before the page's problems are checked.
      await page.goto('about:blank');
      // Every request without a session, and nothing else.
      expect(takeProblems().filter((problem) => !problem.includes('401'))).toEqual([]);
    });
  });
}
