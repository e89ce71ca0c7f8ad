import { describe, expect, it } from '@jest/globals';
import { LOOKS } from '../../browser.ts';
import { cardOf } from '../../console/person.ts';
import type { useWorkspaceInBrowser } from '../../console/workspace.stage.ts';
import type { Stage } from '../../deployment.ts';
import { newMember } from '../../workspace.ts';

export function describeConsoleRoles(stage: Stage, console: ReturnType<typeof useWorkspaceInBrowser>): void {
  describe('what a role may not do', () => {
    it('is not in the menu nor on the page of an agent, and its address says which role it needs', async () => {
      const body = { agent_id: 'labelled', display_name: 'Labelled', labels: { team: 'growth' } };
      await console.owner().expect({ method: 'POST', path: console.workspace().path('/agents'), body, status: 201 });
      const member = await newMember(stage.deployment(), console.owner(), console.workspace(), 'member');
      const { page, close } = await console.browser.visit(LOOKS[0]!, member);
      for (const [below, needed] of [
        ['/alerts', 'admin'],
        ['/rules', 'admin'],
        ['/channels', 'admin'],
        ['/keys', 'owner'],
        ['/members', 'owner'],
      ] as const) {
        await page.goto(`/w/${console.workspace().slug}${below}`);
        await page.getByRole('main').getByText(needed).first().waitFor();
      }
      const menu = page.getByRole('navigation', { name: 'Pages' });
      expect(await menu.getByRole('link').allTextContents()).toEqual([
        ...[
          'Overview',
          'Spend',
          'Agents',
          'Blocked',
          'Budgets',
          'Limits',
          'Raises',
          'Prices',
          'Bills',
          'Connect',
          'Settings',
        ],
      ]);
      const actions = page.getByRole('button', { name: /^(New|Add|Rename|Edit|Set|Release)/ });
      expect(await actions.count()).toBe(0);
      await page.goto(`/w/${console.workspace().slug}/agents/labelled`);
      await cardOf(page, 'Labels').getByText('team=growth').waitFor();
      expect(await actions.count()).toBe(0);
      await close();
    });
  });

  it('finance sees every page of the workspace, and nothing to change there', async () => {
    const finance = await newMember(stage.deployment(), console.owner(), console.workspace(), 'finance');
    const { page, close } = await console.browser.visit(LOOKS[0]!, finance);
    const actions = page.getByRole('button', {
      name: /^(New|Add|Create|Invite|Edit|Set|Remove|Revoke|Pause|Resume|Ask|Raise|Silence|Test|Turn|Compare)/,
    });
    for (const below of ['alerts', 'rules', 'channels', 'keys', 'members']) {
      await page.goto(`/w/${console.workspace().slug}/${below}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.getByRole('main').getByRole('status').first().waitFor({ state: 'detached' });
      const seen = [await page.getByText('Your role has no access').count(), await actions.count()];
      expect([below, ...seen]).toEqual([below, 0, 0]);
    }
    await page.goto(`/w/${console.workspace().slug}/audit`);
    await page.getByRole('main').getByRole('button', { name: 'Created a key' }).first().waitFor();
    const create = { method: 'POST', path: '/api/v1/organisations', body: { name: 'Acme' }, status: 201 };
    const organisation = `/api/v1/organisations/${(await console.owner().expect<{ id: string }>(create)).id}`;
    const path = `${organisation}/workspaces/${console.workspace().slug}`;
    await console.owner().expect({ method: 'PUT', path, status: 204 });
    await page.goto(`/w/${console.workspace().slug}/members`);
    await page
      .getByRole('table', { name: 'Access through the organisation Acme' })
      .getByRole('cell', { name: 'Owner', exact: true })
      .waitFor();
    for (const gone of [path, organisation])
      await console.owner().expect({ method: 'DELETE', path: gone, status: 204 });
    await close();
  });
}
