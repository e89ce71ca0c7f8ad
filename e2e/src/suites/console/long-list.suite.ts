import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import type { Page } from 'playwright-core';
import { type Look, LOOKS, type Visit } from '../../browser.ts';
import { passUntil } from '../../console/page.clock.ts';
import type { useWorkspaceInBrowser } from '../../console/workspace.stage.ts';
import type { Stage } from '../../deployment.ts';
import { budgetBlocked } from '../../events.ts';
import { newWorkspace, postEvents, reportEvents, type TestWorkspace } from '../../workspace.ts';

/** Three pages and a half. */
const CALLS = 350;

export function describeConsoleLongList(stage: Stage, console: ReturnType<typeof useWorkspaceInBrowser>): void {
  let workspace: TestWorkspace;

  /** Blocked calls, newest first, of agents from `agent-0` on. */
  beforeAll(async () => {
    workspace = await newWorkspace(console.owner());
    const now = Date.now();
    const events = Array.from({ length: CALLS }, (_, index) => ({
      ...budgetBlocked(`run-${index}`, `agent-${index}`),
      time: new Date(now - index * 10).toISOString(),
    }));
    expect((await postEvents(stage.deployment(), workspace.apiKey, events)).status).toBe(202);
    await eventually(async () => {
      const path = workspace.path('/dashboard/budget-blocked?range=3m&limit=1');
      expect(await console.owner().expect<{ total: number }>({ path })).toMatchObject({ total: CALLS });
    });
  });

  // A longer span than today, which may end during the suite.
  const LIST = '/blocked?range=3m';

  async function openList(look: Look): Promise<Visit> {
    const visit = await console.open(look, LIST, workspace);
    await isDrawn(visit.page);
    return visit;
  }

  async function openListWithClock(): Promise<Visit> {
    const visit = await console.begin(LOOKS[0]!);
    await visit.page.clock.install();
    await visit.page.goto(`/w/${workspace.slug}${LIST}`);
    await isDrawn(visit.page);
    return visit;
  }

  describe.each(LOOKS)('a long list, at $size size and $theme', (look) => {
    afterEach(() => console.closeAll());

    it('has one page until its end comes near, then every row in its order, of which it draws those in sight', async () => {
      const { page } = await openList(look);
      expect(await rowCount(page)).toBe(100);
      const seen = new Map<string, string>();
      let drawn = 0;
      await page.mouse.move(200, 400);
      while (!seen.has(String(CALLS + 1))) {
        const rows = await rowsOf(page);
        drawn = Math.max(drawn, rows.length);
        for (const [at, agent] of rows) seen.set(at, agent);
        await page.mouse.wheel(0, 300);
      }
      expect([...seen.values()]).toEqual(Array.from({ length: CALLS }, (_, index) => `agent-${index}`));
      expect(drawn).toBeLessThan(90);
      expect(await page.getByRole('button', { name: 'Show more' }).count()).toBe(0);
    });
  });

  describe('a long list', () => {
    afterEach(() => console.closeAll());

    it('is walked through by keyboard alone, beyond its first page', async () => {
      const { page } = await openList(LOOKS[0]!);
      await page.getByRole('link', { name: 'agent-0', exact: true }).focus();
      // The time, the agent and the run of each row.
      for (let step = 0; step < 110 * 3; step += 1) await page.keyboard.press('Tab');
      expect(await page.locator(':focus').textContent()).toBe('agent-110');
    });

    it('says when its next page fails to load, and retries on demand', async () => {
      const { page, takeProblems } = await openListWithClock();
      await scrollToSecondPage(page);
      await page.context().setOffline(true);
      await page.getByRole('button', { name: 'Show more' }).press('Enter');
      const failed = page.getByRole('alert').filter({ hasText: 'Loading failed' });
      const reason = failed.getByText('The server is unreachable.');
      await passUntil(page, async () => expect(await reason.count()).toBe(1));
      const rows = await rowCount(page);
      await page.context().setOffline(false);
      await failed.getByRole('button', { name: 'Try again' }).press('Enter');
      await eventually(async () => expect(await rowCount(page)).toBeGreaterThan(rows));
      expect(await failed.count()).toBe(0);
      expect(takeProblems().filter((problem) => !problem.includes('ERR_INTERNET_DISCONNECTED'))).toEqual([]);
    });

    it('is as it was, at the same place, when the browser goes back from a drawer', async () => {
      const { page } = await openList(LOOKS[0]!);
      await scrollToSecondPage(page);
      const state = async () => ({
        at: await page.evaluate('scrollY'),
        rows: await rowsOf(page),
        count: await rowCount(page),
      });
      const agents = (await rowsOf(page)).map(([, agent]) => agent);
      const link = page.getByRole('link', { name: agents[Math.floor(agents.length / 2)]!, exact: true });
      const button = page.getByRole('row').filter({ has: link }).getByRole('button').first();
      await button.focus();
      const before = await state();
      await button.press('Enter');
      const drawer = page.getByRole('dialog', { name: 'Blocked call' });
      await drawer.waitFor();
      await page.waitForURL(/range=3m.*event=/);
      await page.goBack();
      await drawer.waitFor({ state: 'detached' });
      await page.waitForURL(/blocked\?range=3m$/);
      expect(await state()).toEqual(before);
      await page.goForward();
      await drawer.waitFor();
    });

    it('is updated automatically again once its top is back in sight', async () => {
      const { page } = await openListWithClock();
      await scrollToSecondPage(page);
      await reportEvents(stage.deployment(), workspace.apiKey, budgetBlocked('run-late', 'agent-late'));
      await page.mouse.wheel(0, -100_000);
      const late = page.getByRole('link', { name: 'agent-late' });
      await passUntil(page, async () => expect(await late.count()).toBe(1));
      expect(await rowCount(page)).toBe(100);
    });
  });
}

/** Once it has its place in the list, only visible rows are drawn. */
function isDrawn(page: Page): Promise<void> {
  return page.locator('tr[aria-rowindex="2"]').waitFor();
}

async function rowCount(page: Page): Promise<number> {
  return Number(await page.getByRole('table', { name: 'By a budget' }).getAttribute('aria-rowcount')) - 1;
}

async function scrollToSecondPage(page: Page): Promise<void> {
  // Beside the menu, which scrolls on its own.
  await page.mouse.move(700, 400);
  await eventually(async () => {
    await page.mouse.wheel(0, 300);
    expect(await rowCount(page)).toBe(200);
  });
  // The page processes the last turns of the wheel with a delay.
  let at: unknown;
  await eventually(async () => {
    const before = at;
    at = await page.evaluate('new Promise((done) => setTimeout(() => done(scrollY), 250))');
    expect(at).toBe(before);
  });
}

/** The position of each drawn row, and its agent. */
function rowsOf(page: Page): Promise<[string, string][]> {
  return page.evaluate<[string, string][]>(
    `[...document.querySelectorAll('tr[aria-rowindex]')].map((row) => [row.ariaRowIndex, row.querySelector('a').textContent])`,
  );
}
