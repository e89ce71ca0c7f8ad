import { afterEach, describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import type { Page } from 'playwright-core';
import { LOOKS } from '../../browser.ts';
import { cardOf, rowOf } from '../../console/person.ts';
import type { useWorkspaceInBrowser } from '../../console/workspace.stage.ts';
import type { Stage } from '../../deployment.ts';
import { budgetBlocked, type CloudEvent, guardBlocked, spendSettled, withLabels } from '../../events.ts';
import { newWorkspace, reportEvents, type TestWorkspace } from '../../workspace.ts';

/** More of everything than a table of the statement has rows. */
const MANY = 10;
/** As many as a workspace can track. */
const LABELS = ['customer', 'env', 'feature', 'team', 'user'];
const LONG = 'a-name-as-long-as-names-can-be-'.repeat(4).slice(0, 100);

export function describeConsoleStatement(stage: Stage, console: ReturnType<typeof useWorkspaceInBrowser>): void {
  /** A workspace with more plans, agents, values of labels, budgets, raises and reasons than fit; and its month. */
  async function newFullMonth(): Promise<{ workspace: TestWorkspace; month: string }> {
    const owner = console.owner();
    const workspace = await newWorkspace(owner);
    const { path } = workspace;
    await owner.expect({ method: 'PATCH', path: path('/workspace'), body: { tracked_labels: LABELS } });
    const time = new Date().toISOString();
    const until = new Date(Date.now() + 3_600_000).toISOString();
    for (let index = 0; index < MANY; index += 1) {
      const budget = { name: `${LONG} ${index}`, selector: {}, each: 'label:user', period: { kind: 'month' } };
      const { id } = await owner.expect<{ id: string }>({
        ...{ method: 'POST', path: path('/budgets'), status: 201 },
        body: { ...budget, limit_micros: 500_000_000_000 + index },
      });
      const raise = { budget_id: id, value: LONG, extra_micros: 1_000_000 + index, until, reason: 'Launch' };
      await owner.expect({ method: 'POST', path: path('/raises'), status: 201, body: raise });
    }
    const events = Array.from({ length: MANY }, (_, index) => {
      const name = `${index}-${LONG}`;
      const call = spendSettled({ agentId: `agent-${name}`, amountMicros: 123_456_789_012 + index, time });
      const labelled = withLabels(call, Object.fromEntries(LABELS.map((label) => [label, name])));
      return { ...labelled, data: { ...labelled.data, plan_key: `plan-${index}-${'p'.repeat(50)}` } };
    });
    await eventually(() => reportEvents(stage.deployment(), workspace.apiKey, events));
    await reportEvents(stage.deployment(), workspace.apiKey, [
      budgetBlocked('run-1'),
      ...events.map((_, index) => withGuard(guardBlocked('run-1'), `${LONG} ${index}`)),
    ]);
    const month = time.slice(0, 'yyyy-mm'.length);
    await eventually(async () => {
      const statement = path(`/dashboard/statement?month=${month}`);
      expect(await owner.expect({ path: statement })).toMatchObject({
        ...{ total: { unique_settlements: MANY }, blocked: { budget: 1, guard: MANY }, complete: false },
      });
    });
    return { workspace, month };
  }

  describe.each(LOOKS)('the statement of a month, at $size size and $theme', (look) => {
    afterEach(() => console.closeAll());

    it('is chosen by its month, adds up, and prints on one A4 sheet however full it is', async () => {
      const { workspace, month } = await newFullMonth();
      const { page, expectFit } = await console.open(look, '/spend', workspace);
      await page.getByRole('link', { name: 'Statement' }).press('Enter');
      // That of the last month, in which the workspace spent nothing.
      await cardOf(page, 'Agents').getByText('No spend.').waitFor();
      await page.getByText('The month is complete.').waitFor();
      await page.getByLabel('Month').selectOption(month);
      await page.waitForURL(new RegExp(`month=${month}`));
      await page.getByText('The month is still running.').waitFor();
      for (const reload of [false, true]) {
        if (reload) await page.reload();
        // Ten calls of $123,456.789012 and up to 9 micros more.
        await cardOf(page, 'Spend').getByTitle('$1,234,567.890165').waitFor();
        await cardOf(page, 'Settled calls').getByText('10', { exact: true }).waitFor();
        await cardOf(page, 'Agents')
          .getByRole('row', { name: /^2 others \$246,913\.58/ })
          .waitFor();
        await cardOf(page, 'Values of team')
          .getByRole('row', { name: /^2 others/ })
          .waitFor();
        await cardOf(page, 'Budgets').getByText('2 budgets used less.').waitFor();
        await rowOf(page, '2 smaller raises').getByText('$2.00').waitFor();
        await rowOf(page, 'Other reasons').getByText('3', { exact: true }).waitFor();
        await expectFit();
      }
      const sheet = await page.pdf({ preferCSSPageSize: true });
      expect(pagesOf(sheet)).toEqual([A4]);
      // Nothing is on the sheet that only a screen has, and no amount is cut off.
      await page.emulateMedia({ media: 'print' });
      expect(await page.getByRole('button').filter({ visible: true }).count()).toBe(0);
      expect(await cutOff(page)).toEqual([]);
      await page.emulateMedia({ media: null });
      await page.getByRole('link', { name: 'Show spend' }).press('Enter');
      await cardOf(page, 'Spend').getByTitle('$1,234,567.890165').waitFor();
    });
  });
}

function withGuard(event: CloudEvent, guard: string): CloudEvent {
  return { ...event, data: { ...event.data, guard } };
}

/** Width and height in millimeters. */
const A4 = '210 297';
const MM_OF_A_POINT = 25.4 / 72;

/** The size of each page of a PDF. */
function pagesOf(pdf: Buffer): string[] {
  const pages = pdf.toString('latin1').matchAll(/\/Type \/Page\b[^]*?\/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]/g);
  return Array.from(pages, ([, ...sides]) => sides.map((side) => Math.round(Number(side) * MM_OF_A_POINT)).join(' '));
}

/** The cells with figures whose text is wider than their column. */
function cutOff(page: Page): Promise<string[]> {
  return page.evaluate(`[...document.querySelectorAll('td[data-align="right"], h1, h2')]
    .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1)
    .map(({ textContent }) => textContent)`);
}
