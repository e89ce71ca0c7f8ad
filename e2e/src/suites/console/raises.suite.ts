import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import type { ApiClient } from '../../api.client.ts';
import { LOOKS } from '../../browser.ts';
import { cardOf, rowOf, tabTo } from '../../console/person.ts';
import type { useWorkspaceInBrowser } from '../../console/workspace.stage.ts';
import type { Stage } from '../../deployment.ts';
import { newMember, newWorkspace, type TestWorkspace } from '../../workspace.ts';

interface Raise {
  id: string;
  state: string;
  extra_micros: number;
}

const HOUR_MS = 3_600_000;

export function describeConsoleRaises(stage: Stage, console: ReturnType<typeof useWorkspaceInBrowser>): void {
  describe('raises', () => {
    let workspace: TestWorkspace;
    let member: ApiClient;
    /** One person may ask only a few times an hour. */
    let other: ApiClient;
    let budgetId: string;

    beforeAll(async () => {
      const owner = console.owner();
      workspace = await newWorkspace(owner);
      const body = { name: 'Research', selector: {}, period: { kind: 'day' }, limit_micros: 15_000_000 };
      const path = workspace.path('/budgets');
      budgetId = (await owner.expect<{ id: string }>({ method: 'POST', path, body, status: 201 })).id;
      member = await newMember(stage.deployment(), owner, workspace, 'member');
      other = await newMember(stage.deployment(), owner, workspace, 'member');
      // Requests reach the owners by a rule and a channel.
      const config = { url: `${stage.receiver().url}/raises` };
      const channels = workspace.path('/alerts/channels');
      const channel = { channel_type: 'webhook', name: 'Owners', config };
      const { id } = await owner.expect<{ id: string }>({ method: 'POST', path: channels, body: channel, status: 201 });
      const rule = {
        ...{ name: 'Requests', severity: 'info', scope_type: 'workspace', scope_id: workspace.id },
        rule_kind: 'event_count_gte',
        rule_config: { window_seconds: 60, threshold: 1, filters: { event_types: ['raise.requested'] } },
        channel_config_ids: [id],
      };
      await owner.expect({ method: 'POST', path: workspace.path('/alerts/rules'), body: rule, status: 201 });
    });
    afterEach(() => console.closeAll());

    const ask = (reason: string, as = member) =>
      eventually(() => {
        const until = new Date(Date.now() + 2 * HOUR_MS).toISOString();
        const body = { budget_id: budgetId, extra_micros: 10_000_000, until, reason };
        return as.expect<Raise>({ method: 'POST', path: workspace.path('/raises'), body, status: 201 });
      });
    const read = ({ id }: Raise) => console.owner().expect<Raise>({ path: workspace.path(`/raises/${id}`) });
    /** The link that the message to the owners has. */
    const linkTo = ({ id }: Raise) =>
      eventually(() => {
        const messages = stage.receiver().received.filter(({ path }) => path === '/hook/raises');
        const links = messages.map(({ body }) => (JSON.parse(body) as { data: { url: string } }).data.url);
        const link = links.find((each) => each.includes(id));
        if (link === undefined) throw new Error('the message has not arrived yet');
        const { pathname, search } = new URL(link);
        expect(search).toMatch(/^\?token=tk_raise_/);
        return pathname + search;
      });

    it.each(LOOKS)(
      'are granted once by the link of a request, which changes nothing when it is opened, at $size size and $theme',
      async (look) => {
        const raise = await ask(`Night run ${look.size}`);
        const link = await linkTo(raise);
        const { page, expectFit } = await console.begin(look);
        const second = await console.begin(look);
        for (const visit of [{ page }, second]) {
          await visit.page.goto(link);
          await visit.page.getByText('The member asks for $10.00 more for Research.').waitFor();
        }
        await expectFit();
        expect(await read(raise)).toMatchObject({ state: 'requested' });

        await tabTo(page, page.getByRole('button', { name: 'Approve: Research' }));
        await page.keyboard.press('Enter');
        const form = page.getByRole('dialog', { name: 'Approve more for Research' });
        await expectFit();
        await form.getByLabel('Amount to add (USD)').fill('7.50');
        await form.getByRole('button', { name: 'Approve' }).press('Enter');
        await page.getByText(/This request was approved by /).waitFor();
        expect(await read(raise)).toMatchObject({ state: 'active', extra_micros: 7_500_000 });

        // The other page had the request open all the time.
        await second.page.getByText(/This request was approved by /).waitFor();
        expect(await second.page.getByRole('button', { name: 'Approve: Research' }).count()).toBe(0);
        const again = { method: 'POST', path: workspace.path(`/raises/${raise.id}:approve`) };
        const token = new URLSearchParams(link.split('?')[1]).get('token');
        expect(await console.owner().call({ ...again, body: { token } })).toMatchObject({ status: 409 });

        await page.goto(`/w/${workspace.slug}/limits`);
        await rowOf(page, 'Research')
          .getByText(/^\+ \$7\.50 until \d\d:\d\d$|^\+ \$7\.50 until .*, \d\d:\d\d$/)
          .first()
          .waitFor();
        await expectFit();
        await page.goto(`/w/${workspace.slug}/raises`);
        const row = cardOf(page, 'In force').getByRole('row').filter({ hasText: '$7.50' });
        await row.getByRole('button', { name: 'End the raise of Research' }).press('Enter');
        await page.getByRole('dialog').getByRole('button', { name: 'End' }).press('Enter');
        await page.getByText('Raise of Research ended').waitFor();
        await expectFit();
        expect(await read(raise)).toMatchObject({ state: 'ended' });
      },
    );

    it.each(LOOKS)(
      'are asked for by members on the limits, and declined by owners in the list, at $size size and $theme',
      async (look) => {
        const asking = await console.browser.visit(look, member);
        await asking.page.goto(`/w/${workspace.slug}/limits`);
        await asking.page.getByRole('button', { name: 'Ask for more: Research' }).first().press('Enter');
        const form = asking.page.getByRole('dialog', { name: 'Ask for more: Research' });
        await form.getByLabel('Amount to add (USD)').fill('0');
        await form.getByLabel('Reason').fill(`Backfill ${look.size}`);
        await form.getByRole('button', { name: 'Ask for more' }).press('Enter');
        await form.getByText('Enter an amount above 0').waitFor();
        await asking.expectFit();
        await form.getByLabel('Amount to add (USD)').fill('2');
        await form.getByRole('button', { name: 'Ask for more' }).press('Enter');
        await asking.page.getByText('Request sent to the owners').waitFor();

        const { page, expectFit } = await console.open(look, '/raises', workspace);
        const row = cardOf(page, 'Requests').getByRole('row').filter({ hasText: '$2.00' });
        await row.getByRole('button', { name: 'Decline: Research' }).press('Enter');
        const dialog = page.getByRole('dialog', { name: 'Decline more for Research' });
        await dialog.getByLabel('Reason').fill('Wait for Monday');
        await expectFit();
        await dialog.getByRole('button', { name: 'Decline' }).press('Enter');
        await page.getByText('Request for Research declined').waitFor();

        await asking.page.goto(`/w/${workspace.slug}/raises`);
        await cardOf(asking.page, 'Earlier').getByRole('link', { name: 'Research' }).first().press('Enter');
        await asking.page.getByText('Wait for Monday').waitFor();
        await asking.page.getByText('Only owners of the workspace decide about requests.').waitFor();
        await asking.expectFit();
        await asking.close();
      },
    );

    it('say of the link of another request, and of another workspace, what to do', async () => {
      const look = LOOKS[0]!;
      const [raise, foreign] = [await ask('One', other), await ask('Two', other)];
      const token = new URLSearchParams((await linkTo(foreign)).split('?')[1]).get('token');
      const { page, takeProblems } = await console.begin(look);
      await page.goto(`/w/${console.workspace().slug}/raises/${raise.id}?token=${token}`);
      await page.getByText('No such request').waitFor();
      await page.goto(`/w/${workspace.slug}/raises/${raise.id}?token=${token}`);
      await page.getByRole('button', { name: 'Approve: Research' }).press('Enter');
      await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).press('Enter');
      await page.getByText('The link has expired or is not the link of this request.').waitFor();
      await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).press('Enter');
      await page.getByText(/This request was approved by /).waitFor();
      expect(await read(foreign)).toMatchObject({ state: 'requested' });
      expect(takeProblems().filter((problem) => /^[45]/.test(problem))).toEqual([
        expect.stringMatching(/^404 /),
        expect.stringMatching(/^400 .*:approve$/),
      ]);
    });
  });
}
