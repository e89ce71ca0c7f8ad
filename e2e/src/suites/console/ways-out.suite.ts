import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import { LOOKS } from '../../browser.ts';
import type { useWorkspaceInBrowser } from '../../console/workspace.stage.ts';
import type { Stage } from '../../deployment.ts';
import { budgetBlocked, type CloudEvent, cloudEvent } from '../../events.ts';
import { newWorkspace, reportEvents } from '../../workspace.ts';

export function describeConsoleWaysOut(stage: Stage, console: ReturnType<typeof useWorkspaceInBrowser>): void {
  describe('the ways out of an alert', () => {
    afterEach(() => console.closeAll());

    it('are in its drawer, the links of messages open them, and the command palette pauses as well', async () => {
      const workspace = await newWorkspace(console.owner());
      const fire = async (name: string, agentId: string, event: CloudEvent) => {
        const agent = { agent_id: agentId, display_name: agentId };
        const create = (path: string, body: object) =>
          console.owner().expect({ method: 'POST', path: workspace.path(path), body, status: 201 });
        await create('/agents', agent);
        await create('/alerts/rules', {
          ...{ name, severity: 'high', scope_type: 'agent', scope_id: agentId, rule_kind: 'event_count_gte' },
          rule_config: { window_seconds: 600, threshold: 1, filters: { event_types: [event.type] } },
          channel_config_ids: [],
        });
        return eventually(async () => {
          await reportEvents(stage.deployment(), workspace.apiKey, { ...event, id: randomUUID() });
          const path = workspace.path('/alerts');
          const { items } = await console.owner().expect<{ items: { id: string; rule_name: string }[] }>({ path });
          return items.find(({ rule_name }) => rule_name === name)!.id;
        });
      };
      const blocked = await fire('Runaway', 'planner', budgetBlocked('run-1', 'planner'));
      const budget = { scope: 'agent', scope_id: 'writer', budget_id: 'bud_agent.writer', budget_name: 'Agent writer' };
      const amounts = { percent: 80, spent_micros: 80, daily_budget_usd_micros: 100 };
      const reached = cloudEvent('budget.threshold_reached', { ...budget, ...amounts });
      const nearlySpent = await fire('Nearly spent', 'writer', reached);
      const { page, expectFit } = await console.begin(LOOKS[0]!);
      const follow = (id: string, step: string) => page.goto(`/w/${workspace.slug}/alerts?alert=${id}&step=${step}`);

      await follow(nearlySpent, 'raise');
      const raise = page.getByRole('dialog', { name: 'Raise Agent writer' });
      expect(await raise.getByLabel('Until (UTC)').inputValue()).toMatch(/T00:00$/);
      await expectFit();
      await raise.getByRole('button', { name: 'Cancel' }).click();
      const spent = page.getByRole('dialog', { name: 'Nearly spent' });
      await spent.getByRole('button', { name: 'Resolve' }).press('Enter');
      await spent.getByText('resolved', { exact: true }).waitFor();
      // The button that had the focus is not there any more.
      await page.keyboard.press('Escape');
      await spent.waitFor({ state: 'detached' });

      await follow(blocked, 'pause');
      const form = page.getByRole('dialog', { name: 'Pause planner' });
      await form.getByLabel('Reason').fill('Runaway loop');
      await form.getByRole('button', { name: 'Pause' }).press('Enter');
      await page.getByText('planner paused').waitFor();
      const drawer = page.getByRole('dialog', { name: 'Runaway' });
      await drawer.getByRole('button', { name: 'Resume' }).waitFor();
      await drawer.getByRole('link', { name: 'Raise a limit' }).waitFor();
      await expectFit();
      await page.keyboard.press('Escape');
      await drawer.waitFor({ state: 'detached' });

      await follow(blocked, 'calls');
      await page.waitForURL(/\/blocked\?agent=planner$/);
      // The alert does not say which budget it was.
      await follow(blocked, 'raise');
      await page.waitForURL(/\/limits$/);
      await page.getByText('Runaway loop').waitFor();

      await page.keyboard.press('Control+k');
      await page.keyboard.type('pause writer');
      await page.keyboard.press('Enter');
      await page.getByRole('dialog', { name: 'Pause writer' }).waitFor();
      await page.keyboard.press('Escape');
      await page.keyboard.press('Control+k');
      await page.keyboard.type('pause a label');
      await page.keyboard.press('Enter');
      await page.getByRole('dialog', { name: 'Pause calls' }).getByLabel('Label name').waitFor();
    });
  });
}
