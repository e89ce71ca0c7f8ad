import { afterEach, describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import { LOOKS } from '../../browser.ts';
import { rowOf, tabTo, undo } from '../../console/person.ts';
import type { useWorkspaceInBrowser } from '../../console/workspace.stage.ts';
import type { Stage } from '../../deployment.ts';
import { budgetBlocked, spendSettled, withLabels } from '../../events.ts';
import { newWorkspace, reportEvents } from '../../workspace.ts';

interface StoredChannel {
  name: string;
  enabled: boolean;
  config: { signing_secret_set: boolean };
}

interface FiredAlert {
  id: string;
  rule_name: string;
  sample_event_ids: string[];
}

export function describeConsoleAlerting(stage: Stage, console: ReturnType<typeof useWorkspaceInBrowser>): void {
  describe.each(LOOKS)('alerting, at $size size and $theme', (look) => {
    afterEach(() => console.closeAll());

    it('goes from a channel with a test, over a rule for a label, to an alert of its calls alone that is delivered, acknowledged and resolved', async () => {
      const name = `Room ${look.size}`;
      const rule = `Blocked often ${look.size}`;
      const agentId = `blocked-${look.size}`;
      const path = `/console-${look.size}`;
      const { page, expectFit } = await console.open(look, '/channels');

      // Only the keyboard is used up to the rule.
      await tabTo(page, page.getByRole('button', { name: 'New channel' }));
      await page.keyboard.press('Enter');
      const channel = page.getByRole('dialog', { name: 'New channel' });
      await expectFit();
      await tabTo(page, channel.getByLabel('Name'));
      await page.keyboard.type(name);
      await page.keyboard.press('Tab');
      await page.keyboard.type(`${stage.receiver().url}${path}`);
      await page.keyboard.press('Tab');
      await page.keyboard.type('a-secret-of-more-than-16-bytes');
      await page.keyboard.press('Enter');
      await page.getByText(`Channel ${name} saved`).waitFor();
      await tabTo(page, rowOf(page, name).getByRole('button', { name: 'Send test' }));
      await page.keyboard.press('Enter');
      const test = page.getByRole('dialog', { name: `Send test: ${name}` });
      await test.getByText('The destination returned 200.').waitFor();
      await test.getByText('thanks').waitFor();
      const received = stage.receiver().received.filter((webhook) => webhook.path === `/hook${path}`);
      expect(received.map(({ body }) => (JSON.parse(body) as { type: string }).type)).toEqual(['channel.test']);
      await expectFit();
      await page.keyboard.press('Escape');

      await page.keyboard.press('Control+k');
      await page.keyboard.type('rules');
      await page.keyboard.press('Enter');
      await tabTo(page, page.getByRole('button', { name: 'New rule' }));
      await page.keyboard.press('Enter');
      const form = page.getByRole('dialog', { name: 'New rule' });
      await tabTo(page, form.getByLabel('Name'));
      await page.keyboard.type(rule);
      await tabTo(page, form.getByLabel('Number of events'));
      await page.keyboard.press('Control+a');
      await page.keyboard.type('0');
      await page.keyboard.press('Enter');
      await form.getByText('Enter a whole number from 1 to 100,000.').waitFor();
      await expectFit();
      await page.keyboard.press('Control+a');
      await page.keyboard.type('2');
      await tabTo(page, form.getByLabel(name));
      await page.keyboard.press('Space');
      await tabTo(page, form.getByLabel('Labels'));
      await page.keyboard.type('team=gr*');
      await form.getByText('2 calls blocked by a budget within 10 minutes, any agent, with team=gr*').waitFor();
      await tabTo(page, form.getByRole('button', { name: 'Save' }));
      await page.keyboard.press('Enter');
      await rowOf(page, rule).getByText('Active').waitFor();

      const ofTeam: string[] = [];
      await eventually(async () => {
        const other = budgetBlocked('run-9', agentId);
        const events = [0, 1].map(() => withLabels(budgetBlocked('run-9', agentId), { team: 'growth' }));
        ofTeam.push(...events.map(({ id }) => id));
        await reportEvents(stage.deployment(), console.workspace().apiKey, [
          ...[other, withLabels(budgetBlocked('run-9', agentId), { team: 'sales' }), ...events],
        ]);
        const alertsPath = console.workspace().path('/alerts');
        const { items } = await console.owner().expect<{ items: FiredAlert[] }>({ path: alertsPath });
        const samples = items.find(({ rule_name }) => rule_name === rule)?.sample_event_ids;
        expect(samples).toHaveLength(2);
        expect(ofTeam).toEqual(expect.arrayContaining(samples!));
      });
      // The firing alert is on the first page, with a link.
      await page.goto(`/w/${console.workspace().slug}`);
      await page
        .getByRole('listitem')
        .filter({ hasText: /calls blocked by a budget within 10 min, with team=gr\* \(threshold 2\)/ })
        .first()
        .waitFor();
      await page.getByRole('main').getByRole('link', { name: rule }).first().click();
      await page.getByRole('dialog', { name: rule }).waitFor();
      await page.keyboard.press('Escape');
      await page.goto(`/w/${console.workspace().slug}/alerts?status=firing`);
      await rowOf(page, rule).first().getByText('within 10 min, with team=gr* (threshold 2)').waitFor();
      await page.getByRole('button', { name: rule }).first().click();
      const drawer = page.getByRole('dialog', { name: rule });
      await drawer.getByText('2 calls blocked by a budget within 10 min, with team=gr* (threshold 2)').waitFor();
      await drawer.getByText(name).waitFor();
      await drawer.getByText('returned 200').waitFor();
      await drawer.getByText('Fired: the condition became true.').first().waitFor();
      await expectFit();
      await drawer.getByRole('button', { name: 'Silence', exact: true }).click();
      const silence = page.getByRole('dialog', { name: 'Silence alerts' });
      const matchers = `rule_name=${rule}\nlabel:team=gr*`;
      expect(await silence.getByLabel('Alerts').inputValue()).toBe(matchers);
      await silence.getByLabel('Reason').fill('Load test');
      await expectFit();
      await silence.getByRole('button', { name: 'Silence', exact: true }).click();
      await drawer.getByText(/Silenced until .* by .*: Load test/).waitFor();
      await drawer.getByRole('button', { name: 'Acknowledge' }).click();
      await drawer.getByText('acknowledged', { exact: true }).waitFor();
      await drawer.getByRole('button', { name: 'Resolve' }).press('Enter');
      await drawer.getByText('resolved', { exact: true }).waitFor();
      await page.keyboard.press('Escape');
      await drawer.waitFor({ state: 'detached' });
      await page.goto(`/w/${console.workspace().slug}/alerts`);
      const silenced = rowOf(page, matchers.replace('\n', ', '));
      await silenced.getByRole('button', { name: 'End' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'End' }).click();
      await silenced.waitFor({ state: 'detached' });
      await page.getByLabel('Status').selectOption('resolved');
      await page.waitForURL(/status=resolved/);
      await page.getByRole('button', { name: rule }).first().waitFor();

      // A shared URL shows the same.
      await page.getByLabel('Rule').selectOption({ label: rule });
      await page.getByLabel('From').fill('2026-01-02');
      await page.waitForURL(/from=2026-01-02/);
      await page.reload();
      await page.getByRole('button', { name: rule }).first().waitFor();
      expect(await page.getByLabel('From').inputValue()).toBe('2026-01-02');
      await page.getByLabel('Severity').selectOption('info');
      await page.getByText('No matching alerts').waitFor();
      await page.getByRole('button', { name: 'Clear filters' }).click();
      await page.getByRole('button', { name: rule }).first().waitFor();
    });
  });

  describe('alerting', () => {
    afterEach(() => console.closeAll());

    it('of a rule is edited, paused with a way back, and deleted with a warning', async () => {
      const rule = `Blocked often ${LOOKS[0]!.size}`;
      const { page } = await console.open(LOOKS[0]!, '/rules');
      await page.getByRole('button', { name: rule, exact: true }).click();
      const form = page.getByRole('dialog', { name: `Edit ${rule}` });
      await form.getByLabel('Fires when').selectOption({ label: 'spend reaches a threshold' });
      await form.getByLabel('Amount in USD').fill('12.50');
      await form.getByText('$12.50 or more spent within 10 minutes, all agents').waitFor();
      await form.getByLabel('Group alerts (minutes)').fill('90');
      await form.getByRole('button', { name: 'Save' }).click();
      await form.getByText('Enter a number of minutes from 0 to 60.').waitFor();
      await form.getByLabel('Group alerts (minutes)').fill('5');
      await form.getByRole('button', { name: 'Save' }).click();
      await rowOf(page, rule).getByText('$12.50 or more spent').waitFor();
      await rowOf(page, rule).getByText('One message for all alerts within 5 minutes').waitFor();
      await rowOf(page, rule).getByRole('button', { name: 'Pause' }).click();
      await rowOf(page, rule).getByText('Paused').waitFor();
      await undo(page, `Rule ${rule} paused`);
      await rowOf(page, rule).getByText('Active').waitFor();
      await rowOf(page, rule).getByRole('button', { name: 'Pause' }).click();
      await rowOf(page, rule).getByText('Paused').waitFor();
      await page.getByRole('button', { name: rule, exact: true }).click();
      await form.getByLabel('Amount in USD').fill('13');
      await form.getByRole('button', { name: 'Save' }).click();
      await rowOf(page, rule).getByText('$13.00 or more spent').waitFor();
      // Editing does not resume a paused rule.
      await rowOf(page, rule).getByText('Paused').waitFor();
      await rowOf(page, rule)
        .getByRole('button', { name: /^Delete/ })
        .click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
      await rowOf(page, rule).waitFor({ state: 'detached' });
    });

    it('of a rule for requests for raises is made and edited, and fires for each of them', async () => {
      const { page, expectFit } = await console.open(LOOKS[0]!, '/rules');
      await page.getByRole('button', { name: 'New rule' }).click();
      const form = page.getByRole('dialog', { name: 'New rule' });
      await form.getByLabel('Name').fill('Requests');
      await form.getByLabel('Fires when').selectOption({ label: 'somebody asks for more budget' });
      await form.getByText('Each request for a raise').waitFor();
      await expectFit();
      await form.getByRole('button', { name: 'Save' }).click();
      await rowOf(page, 'Requests').getByText('Each request for a raise').waitFor();
      await page.getByRole('button', { name: 'Requests', exact: true }).click();
      const edit = page.getByRole('dialog', { name: 'Edit Requests' });
      await edit.getByText('Each request for a raise').waitFor();
      await edit.getByLabel('Severity').selectOption('info');
      await edit.getByRole('button', { name: 'Save' }).click();
      await rowOf(page, 'Requests').getByText('info').waitFor();
      const path = console.workspace().path('/alerts/rules');
      const { items } = await console.owner().expect<{ items: { name: string }[] }>({ path });
      expect(items.find(({ name }) => name === 'Requests')).toMatchObject({
        ...{ rule_kind: 'event_count_gte', cooldown_seconds: 0, severity: 'info' },
        rule_config: { threshold: 1, filters: { event_types: ['raise.requested'] } },
      });
    });

    it('of a channel for PagerDuty is made with a key, tested, and moved to another host only with the key again', async () => {
      const [name, key] = ['On call', 'a'.repeat(32)];
      const { page, takeProblems } = await console.open(LOOKS[0]!, '/channels');
      await page.getByRole('button', { name: 'New channel' }).click();
      const form = page.getByRole('dialog', { name: 'New channel' });
      await form.getByLabel('Type').selectOption({ label: 'PagerDuty' });
      await form.getByLabel('Name').fill(name);
      expect(await form.getByLabel('URL').inputValue()).toBe('https://events.pagerduty.com/v2/enqueue');
      await form.getByLabel('URL').fill(`${stage.receiver().url}/pager`);
      await form.getByLabel('Integration key').fill(key);
      await form.getByRole('button', { name: 'Save' }).click();
      await page.getByText(`Channel ${name} saved`).waitFor();
      await rowOf(page, name).getByRole('button', { name: 'Send test' }).click();
      await page.getByText('The destination returned 200.').waitFor();
      const sent = stage.receiver().received.filter(({ path }) => path === '/hook/pager');
      expect(sent.map(({ body }) => JSON.parse(body) as unknown)).toMatchObject([
        { routing_key: key, event_action: 'trigger' },
      ]);
      await page.keyboard.press('Escape');

      await page.getByRole('button', { name, exact: true }).click();
      const edit = page.getByRole('dialog', { name: `Edit ${name}` });
      await edit.getByLabel('URL').fill('https://events.eu.pagerduty.com/v2/enqueue');
      await edit.getByRole('button', { name: 'Save' }).click();
      await edit.getByText('Send it again together with the new url.').waitFor();
      await edit.getByLabel('Integration key').fill(key);
      await edit.getByRole('button', { name: 'Save' }).click();
      await rowOf(page, name).getByText('https://events.eu.pagerduty.com/v2/enqueue').waitFor();
      expect(takeProblems().filter((problem) => !problem.includes('400'))).toEqual([]);
    });

    it('of a channel is renamed without its secret, turned off with a way back, and deleted with a warning', async () => {
      const before = `Room ${LOOKS[0]!.size}`;
      const name = 'Hall';
      const stored = async () => {
        const path = console.workspace().path('/alerts/channels');
        const { items } = await console.owner().expect<{ items: StoredChannel[] }>({ path });
        return items
          .filter((each) => each.name === name)
          .map(({ enabled, config }) => ({ enabled, signed: config.signing_secret_set }));
      };
      const { page } = await console.open(LOOKS[0]!, '/channels');
      await page.getByRole('button', { name: before, exact: true }).click();
      const form = page.getByRole('dialog', { name: `Edit ${before}` });
      await form.getByLabel('Name').fill(name);
      await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
      await page.getByText(`Channel ${name} saved`).waitFor();
      const row = rowOf(page, name);
      await row.getByRole('button', { name: 'Turn off' }).click();
      await row.getByText('Off', { exact: true }).waitFor();
      expect(await stored()).toEqual([{ enabled: false, signed: true }]);
      await undo(page, `Channel ${name} turned off`);
      await page.getByText(`Channel ${name} turned on`).waitFor();
      await row.getByText('On', { exact: true }).waitFor();
      expect(await stored()).toEqual([{ enabled: true, signed: true }]);
      await row.getByRole('button', { name: /^Delete/ }).click();
      const warning = page.getByRole('dialog', { name: `Delete channel ${name}` });
      await warning.getByText('Rules stop notifying it.').waitFor();
      await warning.getByRole('button', { name: 'Delete' }).click();
      await page.getByText(`Channel ${name} deleted`).waitFor();
      await row.waitFor({ state: 'detached' });
      expect(await stored()).toEqual([]);
    });
  });

  describe('a maintenance window', () => {
    afterEach(() => console.closeAll());

    it('is made for times of the week, changed and deleted', async () => {
      const { page, expectFit } = await console.open(LOOKS[0]!, '/alerts');
      await page.getByRole('button', { name: 'Add maintenance window' }).click();
      const form = page.getByRole('dialog', { name: 'Add maintenance window' });
      await form.getByLabel('Name').fill('Nightly');
      await form.getByLabel('Reason').fill('Batch');
      await form.getByLabel('Alerts').fill('severity=low\nnonsense');
      await form.getByText('Line 2: write a field, = or !=, and a value').waitFor();
      await form.getByLabel('Alerts').fill('severity=low');
      await form.getByRole('button', { name: 'Save' }).click();
      await form.getByText('Choose at least one day.').waitFor();
      await form.getByLabel('Monday').check();
      await expectFit();
      await form.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Monday 22:00–06:00').waitFor();
      await page.getByRole('button', { name: 'Nightly', exact: true }).click();
      const edit = page.getByRole('dialog', { name: 'Edit Nightly' });
      await edit.getByLabel('To', { exact: true }).fill('05:30');
      await edit.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Monday 22:00–05:30').waitFor();
      await rowOf(page, 'Nightly').getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
      await rowOf(page, 'Nightly').waitFor({ state: 'detached' });
    });
  });

  describe('a page of alerts behind the last', () => {
    afterEach(() => console.closeAll());

    it('says that the list ends before it, and leads to the newest', async () => {
      const { page } = await console.open(LOOKS[0]!, '/alerts?offset=5000');
      await page.getByText('The list ends before this page.').waitFor();
      await page.getByRole('button', { name: 'Go to newest' }).click();
      await page.getByText('1–').waitFor();
    });
  });

  describe('a rule of a workspace with more agents than a list shows', () => {
    afterEach(() => console.closeAll());

    it('names one of them by its id', async () => {
      const workspace = await newWorkspace(console.owner());
      const ids = Array.from({ length: 1_001 }, (_, index) => `agent-${String(index).padStart(4, '0')}`);
      const events = ids.map((agentId) => spendSettled({ agentId, amountMicros: 1 }));
      await reportEvents(stage.deployment(), workspace.apiKey, events.slice(0, 1_000));
      await reportEvents(stage.deployment(), workspace.apiKey, events.slice(1_000));
      await eventually(async () => {
        const path = workspace.path('/agents?limit=1000');
        expect((await console.owner().expect<{ next_cursor: unknown }>({ path })).next_cursor).not.toBeNull();
      });
      const { page, expectFit } = await console.open(LOOKS[0]!, '/rules', workspace);
      await page.getByRole('button', { name: 'New rule' }).click();
      const form = page.getByRole('dialog', { name: 'New rule' });
      await form.getByLabel('Name').fill('One of many');
      await form.getByText('Leave empty for any agent').waitFor();
      await form.getByLabel('Agent', { exact: true }).fill('agent-1000');
      await expectFit();
      await form.getByRole('button', { name: 'Save' }).click();
      await rowOf(page, 'One of many').getByText(', agent-1000').waitFor();
    });
  });
}
