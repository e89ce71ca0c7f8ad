import { setTimeout } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { inOneLook, LOOKS } from '../../browser.ts';
import type { useWorkspaceInBrowser } from '../../console/workspace.stage.ts';
import { newWorkspace } from '../../workspace.ts';

/** Long after everything else of a page is drawn. */
const LATE_MS = 700;

const WIDE = { width: 2_560, height: 1_440 };

const PAGES = [
  ['', 'Overview'],
  ['/spend', 'Spend'],
  ['/spend?by=agent', 'Spend'],
  ['/spend?by=model', 'Spend'],
  ['/spend?by=plan&range=3m', 'Spend'],
  ['/spend/statement', 'Statement'],
  ['/agents', 'Agents'],
  ['/agents/planner', 'planner'],
  ['/blocked', 'Blocked'],
  ['/blocked?kind=guard', 'Blocked'],
  ['/budgets', 'Budgets'],
  ['/limits', 'Limits'],
  ['/raises', 'Raises'],
  ['/alerts', 'Alerts'],
  ['/rules', 'Rules'],
  ['/channels', 'Channels'],
  ['/prices', 'Prices'],
  ['/prices?source=table&find=gpt-4o', 'Prices'],
  ['/bills', 'Bills'],
  ['/connect', 'Connect a gateway'],
  ['/connect?sender=envoy', 'Connect a gateway'],
  ['/keys', 'Keys'],
  ['/members', 'Members'],
  ['/audit', 'Audit log'],
  ['/settings', 'Settings'],
] as const;

export function describeEveryPage(console: ReturnType<typeof useWorkspaceInBrowser>): void {
  describe.each(LOOKS)('every page, at $size size and $theme', (look) => {
    afterEach(() => console.closeAll());

    it('opens at its address, moves nothing once it is drawn, is fit for everybody, fits the screen, and breaks nothing', async () => {
      const { page, expectInPlace, expectFit } = await console.begin(look);
      const size = page.viewportSize()!;
      for (const [below, heading] of PAGES) {
        await page.goto(`/w/${console.workspace().slug}${below}`);
        await page.getByRole('heading', { level: 1, name: heading }).waitFor();
        await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' });
        expect([below, await layoutShift(page)]).toEqual([below, '0.000']);
        await expectFit();
        if (look.size === 'phone') continue;
        // On a wide screen, the content is centered, and no line spans the whole width.
        await page.setViewportSize(WIDE);
        await expectInPlace();
        const { width, left, right } = await sidesOf(page);
        expect([below, width <= 1_600, left]).toEqual([below, true, right]);
        await page.setViewportSize(size);
      }
    });

    it('moves nothing on the first visit of a workspace either, whatever comes last', async () => {
      const fresh = await newWorkspace(console.owner());
      for (const { slug } of [console.workspace(), fresh]) {
        for (const last of ['**/alerts/rules', '**/dashboard/overview?*']) {
          const { page, close } = await console.browser.visit(look, console.owner());
          await page.route(last, async (route) => {
            await setTimeout(LATE_MS);
            await route.continue();
          });
          await page.goto(`/w/${slug}`);
          await page.getByText('Set up this workspace').waitFor();
          await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' });
          expect([slug, last, await layoutShift(page)]).toEqual([slug, last, '0.000']);
          await close();
        }
      }
    });

    it('is found in the menu by its name', async () => {
      const { page } = await console.open(look, '');
      for (const name of [
        'Spend',
        'Agents',
        'Blocked',
        'Budgets',
        'Limits',
        'Alerts',
        'Rules',
        'Channels',
        'Bills',
        'Connect',
        'Keys',
      ]) {
        if (look.size === 'phone') await page.getByRole('button', { name: 'Menu' }).click();
        await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name }).click();
        await page.getByRole('heading', { level: 1, name }).waitFor();
      }
    });

    it('is reached by typing a part of its name, by keyboard alone', async () => {
      const { page, expectFit } = await console.open(look, '');
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Search pages, agents and actions' }).waitFor();
      await expectFit();
      await page.keyboard.type('memb');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { level: 1, name: 'Members' }).waitFor();
      await page.keyboard.press('Control+k');
      await page.keyboard.type('planner');
      // The agents load when the list opens.
      await page.getByRole('option', { name: 'planner' }).first().waitFor();
      // The next one pauses the agent.
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('ArrowUp');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { level: 1, name: 'planner' }).waitFor();
    });

    inOneLook(look)('keeps the span and the zone in its address, and from page to page', async () => {
      const { page } = await console.open(look, '');
      await page.getByRole('button', { name: 'Yesterday' }).click();
      await page.waitForURL(/range=yesterday/);
      await page.getByRole('link', { name: 'All agents' }).click();
      await page.waitForURL(/agents\?range=yesterday/);
      await page.reload();
      await page.getByRole('button', { name: 'Yesterday', pressed: true }).waitFor();
      await page.getByRole('button', { name: 'Today' }).click();
      await page.getByRole('button', { name: 'Today', pressed: true }).waitFor();
      await page.getByRole('button', { name: 'Yesterday', pressed: false }).waitFor();
      await page.waitForURL(/range=today/);

      await page.goto(`/w/${console.workspace().slug}`);
      await page.getByRole('button', { name: 'End to end' }).click();
      await page.getByLabel('Display time zone').fill('Asia/Kathmandu');
      await page.getByRole('button', { name: 'Apply' }).click();
      await page.waitForURL(/zone=Asia%2FKathmandu/);
      await page.getByText(/^Today, .*, Asia\/Kathmandu/).waitFor();
      await page.getByRole('link', { name: 'All agents' }).click();
      await page.waitForURL(/agents\?.*zone=Asia%2FKathmandu/);
    });

    it('is light or dark after the system, and by choice', async () => {
      const { page } = await console.begin(look);
      await page.goto(`/w/${console.workspace().slug}`);
      const other = look.theme === 'light' ? 'dark' : 'light';
      expect(await themeOf(page)).toBe(look.theme);
      if (look.size === 'phone') await page.getByRole('button', { name: 'Menu' }).click();
      await page.getByLabel('Theme').selectOption(other);
      expect(await themeOf(page)).toBe(other);
      await page.reload();
      expect(await themeOf(page)).toBe(other);
      if (look.size === 'phone') await page.getByRole('button', { name: 'Menu' }).click();
      await page.getByLabel('Theme').selectOption('system');
      await page.emulateMedia({ colorScheme: other });
      expect(await themeOf(page)).toBe(other);
      await page.emulateMedia({ colorScheme: look.theme });
      expect(await themeOf(page)).toBe(look.theme);
    });

    it('shows where the focus is, wherever it is', async () => {
      const { page } = await console.open(look, '');
      await page.getByRole('table', { name: 'Top agents' }).waitFor();
      const seen = new Set<string>();
      for (let step = 0; step < 60; step += 1) {
        await page.keyboard.press('Tab');
        const { place, ring } = await focusOf(page);
        if (place === 'BODY') break;
        expect([place, ring]).toEqual([place, true]);
        seen.add(place);
      }
      expect([...seen].some((place) => place.includes('planner'))).toBe(true);
    });
  });

  describe('a page', () => {
    afterEach(() => console.closeAll());

    it('holds the place of what is loading, and says so', async () => {
      const { page } = await console.begin(LOOKS[0]!);
      for (const [answer, below] of [
        ['**/dashboard/budget-blocked?*', '/blocked'],
        ['**/alerts?*', '/alerts'],
        ['**/management/workspace-keys', '/keys'],
      ] as const) {
        const held = Promise.withResolvers<void>();
        await page.route(answer, async (route) => {
          await held.promise;
          await route.continue();
        });
        await page.goto(`/w/${console.workspace().slug}${below}`);
        const loading = page.getByRole('status', { name: 'Loading' });
        await loading.waitFor();
        held.resolve();
        await loading.waitFor({ state: 'detached' });
        await page.unroute(answer);
      }
    });
  });

  describe('the way to anywhere', () => {
    afterEach(() => console.closeAll());

    it('finds a name that was typed while agents were loading', async () => {
      const { page } = await console.begin(LOOKS[0]!);
      const held = Promise.withResolvers<void>();
      // Before the page opens, so that it has no agents from an earlier request.
      await page.route(/\/api\/v1\/agents\?/, async (route) => {
        await held.promise;
        await route.continue();
      });
      await page.goto(`/w/${console.workspace().slug}`);
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
      await page.getByRole('button', { name: 'Go to Ctrl K' }).waitFor();
      await page.keyboard.press('Control+k');
      await page.keyboard.type('planner');
      await page.getByRole('dialog').getByText('Loading', { exact: true }).waitFor();
      await page.keyboard.press('ArrowDown');
      held.resolve();
      await page.getByRole('option', { name: 'planner', selected: true }).waitFor();
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { level: 1, name: 'planner' }).waitFor();
    });

    it('is named after the keys of the machine', async () => {
      const { page } = await console.begin(LOOKS[0]!);
      await page.goto(`/w/${console.workspace().slug}`);
      await page.getByRole('button', { name: 'Go to Ctrl K' }).waitFor();
      await page.addInitScript('Object.defineProperty(navigator, "platform", { value: "MacIntel" })');
      await page.reload();
      await page.getByRole('button', { name: 'Go to ⌘K' }).waitFor();
    });
  });

  describe('a page that is not there', () => {
    afterEach(() => console.closeAll());

    it('says so, and leads home', async () => {
      const { page } = await console.open(LOOKS[0]!, '/nothing');
      await page.getByText('Page not found').waitFor();
      await page.getByRole('link', { name: 'Go to overview' }).click();
      await page.waitForURL(/\/w\//);
      expect(page.url()).not.toContain('nothing');
    });
  });
}

/** Whether the page is light or dark. */
function themeOf(page: Page): Promise<'light' | 'dark'> {
  return page.evaluate(`(() => {
    const [red, green, blue] = getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number);
    return red + green + blue > 380 ? 'light' : 'dark';
  })()`);
}

/** The focused element, and whether its focus is visible. */
function focusOf(page: Page): Promise<{ place: string; ring: boolean }> {
  return page.evaluate(`(() => {
    const at = document.activeElement;
    const { outlineStyle, outlineWidth } = getComputedStyle(at);
    const name = at.getAttribute('aria-label') ?? at.textContent;
    return {
      place: at === document.body ? 'BODY' : at.tagName + ' ' + name,
      ring: outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2,
    };
  })()`);
}

/** Width of a page's content, and of the free space beside it. */
function sidesOf(page: Page): Promise<{ width: number; left: number; right: number }> {
  return page.evaluate(`(() => {
    const main = document.querySelector('main');
    const [content, place] = [main, main.parentElement].map((each) => each.getBoundingClientRect());
    return { width: content.width, left: content.left - place.left, right: place.right - content.right };
  })()`);
}

/** Sum of the layout shifts of a page so far. */
/** How far the page moved, with the elements that moved. */
async function layoutShift(page: Page): Promise<string> {
  const { sum, moved } = await page.evaluate<{ sum: number; moved: string[] }>(`new Promise((resolve) => {
    let sum = 0;
    const moved = [];
    const boxOf = ({ x, y, width, height }) => [x, y, width, height].map(Math.round).join(' ');
    new PerformanceObserver((list) => {
      for (const { value, sources } of list.getEntries()) {
        sum += value;
        for (const { node, previousRect, currentRect } of sources) {
          moved.push(boxOf(previousRect) + ' to ' + boxOf(currentRect) + ': ' + node?.textContent?.slice(0, 80));
        }
      }
    }).observe({ type: 'layout-shift', buffered: true });
    setTimeout(() => resolve({ sum, moved }), 100);
  })`);
  return [sum.toFixed(3), ...(sum < 0.0005 ? [] : moved)].join('\n');
}
