// How fast the console's first page loads, and whether long lists scroll smoothly.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { newId } from '@tollkeeper/kernel';
import { findChromium } from '@tollkeeper/testing/chromium';
import { markdownTable } from '@tollkeeper/testing/markdown-table';
import { newDataDirectory, removeDataDirectory, startStandalone } from '@tollkeeper/testing/standalone-process';
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from 'playwright-core';
import { CATEGORIES, lighthouseScores } from './lighthouse.ts';
import { describeMachine } from './machine.ts';
import { eventNow, postEvents, UNLIMITED_EVENTS } from './posted.events.ts';
import { median, percentile, whole } from './statistics.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '9' },
    agents: { type: 'string', default: '10000' },
    blocked: { type: 'string', default: '20000' },
  },
});
const rounds = Number(values.rounds);
const agents = Number(values.agents);
const blocked = Number(values.blocked);

const BATCH = 1_000;
const SETTLE_MS = 1_500;
const SCROLL_STEPS = 120;
const WHEEL_PIXELS = 700;
const BASELINE = 'page of the API (Swagger UI), the baseline';
const PAGES = { 'overview of the sample month': '/w/demo', [BASELINE]: '/docs' };
const VIEWPORT = { width: 1360, height: 900 };

/** Milliseconds from the navigation to the largest paint so far. */
const LARGEST_PAINT = `new Promise((resolve) => {
  new PerformanceObserver((list) => resolve(list.getEntries().at(-1).startTime))
    .observe({ type: 'largest-contentful-paint', buffered: true });
})`;

/** Sum of the layout shifts so far; 0 without any. */
const LAYOUT_SHIFT = `new Promise((resolve) => {
  let sum = 0;
  new PerformanceObserver((list) => { for (const { value } of list.getEntries()) sum += value; })
    .observe({ type: 'layout-shift', buffered: true });
  setTimeout(() => resolve(sum), 100);
})`;

const COUNT_FRAMES = `{
  globalThis.frameGaps = [];
  let last = performance.now();
  const next = (now) => { frameGaps.push(now - last); last = now; requestAnimationFrame(next); };
  requestAnimationFrame(next);
}`;

execFileSync(process.execPath, [fileURLToPath(import.meta.resolve('@tollkeeper/console/build-web'))]);
const dataDirectory = await newDataDirectory();
const standalone = await startStandalone({ dataDirectory, env: { ...UNLIMITED_EVENTS, TOLLKEEPER_DEMO: 'true' } });
const browser = await chromium.launch({ executablePath: findChromium(), args: ['--no-sandbox'] });
try {
  console.log(`## Console\n\n${describeMachine()}\n- Chromium ${browser.version()}, ${rounds} rounds\n`);
  await reportFirstPage(browser);
  await reportLighthouse(browser);
  await reportLongLists(browser);
} finally {
  await browser.close();
  await standalone.end('SIGTERM');
  await removeDataDirectory(dataDirectory);
}

/** The overview, in a browser with an empty cache, and the page of the API's documentation. */
async function reportFirstPage(browser: Browser): Promise<void> {
  const paints = new Map<string, number[]>(Object.keys(PAGES).map((name) => [name, []]));
  const shifts = new Map<string, number[]>(Object.keys(PAGES).map((name) => [name, []]));
  const cookies = await logIn(browser);
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, path] of Object.entries(PAGES)) {
      const context = await browser.newContext({ baseURL: standalone.baseUrl, viewport: VIEWPORT });
      await context.addCookies(cookies);
      await context.addInitScript('localStorage.setItem("tollkeeper.session", "yes")');
      const page = await context.newPage();
      await page.goto(path);
      await page.waitForTimeout(SETTLE_MS);
      paints.get(name)?.push(await page.evaluate<number>(LARGEST_PAINT));
      shifts.get(name)?.push(await page.evaluate<number>(LAYOUT_SHIFT));
      await context.close();
    }
  }
  const baseline = median(paints.get(BASELINE) ?? []);
  const rows = Object.keys(PAGES).map((name) => {
    const times = paints.get(name) ?? [];
    const shift = Math.max(...(shifts.get(name) ?? []));
    const share = `${whole((median(times) / baseline) * 100)} %`;
    return [name, whole(median(times)), whole(percentile(times, 100)), share, shift.toFixed(3)];
  });
  console.log(
    markdownTable(
      ['first visit', 'largest paint ms, median', 'slowest', 'of the baseline', 'layout shift, worst'],
      rows,
    ),
  );
}

async function reportLighthouse(browser: Browser): Promise<void> {
  const cookies = await logIn(browser);
  const prepare = async (context: BrowserContext) => {
    await context.addCookies(cookies);
    const [page = await context.newPage()] = context.pages();
    await page.goto(`${standalone.baseUrl}/login`);
    await page.evaluate('localStorage.setItem("tollkeeper.session", "yes")');
  };
  const rows: string[][] = [];
  for (const [name, path] of Object.entries(PAGES)) {
    try {
      const scores = await lighthouseScores(`${standalone.baseUrl}${path}`, prepare);
      rows.push([name, ...scores.map(whole)]);
    } catch (error) {
      console.log(`\nNo scores of Lighthouse: ${String(error).split('\n')[0]}`);
      return;
    }
  }
  console.log(`\n${markdownTable(['Lighthouse, desktop', ...CATEGORIES], rows)}`);
}

/** A table of every agent, and a list of blocked calls that loads while scrolling, both from top to end. */
async function reportLongLists(browser: Browser): Promise<void> {
  await post(agents, (index) => {
    const call = { run_id: `run-${index}`, agent_id: `agent-${index}` };
    return eventNow('spend.settled', { settlement_id: newId('stl'), ...call, amount_micros: 1_000 });
  });
  await post(blocked, (index) => {
    const call = { run_id: `run-${index}`, agent_id: `agent-${index % 500}` };
    const budget = { scope: 'agent', spent_micros: 9_800, daily_budget_usd_micros: 10_000 };
    return eventNow('budget.blocked', { ...call, ...budget, requested_micros: 1_000 + index });
  });
  const context = await browser.newContext({ baseURL: standalone.baseUrl, viewport: VIEWPORT });
  await context.addCookies(await logIn(browser));
  await context.addInitScript('localStorage.setItem("tollkeeper.session", "yes")');
  // Later events would come before the first page.
  for (let total = 0; total < blocked;) {
    const answer = await context.request.get('/w/demo/api/v1/dashboard/budget-blocked?range=3m&limit=1');
    ({ total } = (await answer.json()) as { total: number });
  }
  const lists = [
    ['every agent', '/w/demo/agents', 'Agents', scrollToEnd],
    ['blocked calls, loaded page by page', '/w/demo/blocked?range=3m', 'By a budget', scrollWhileItGrows],
  ] as const;
  const rows: string[][] = [];
  for (const [name, path, label, scroll] of lists) {
    const page = await context.newPage();
    const startedAt = performance.now();
    await page.goto(path);
    const table = page.getByRole('table', { name: label });
    await table.waitFor();
    const shownMs = performance.now() - startedAt;
    await page.mouse.move(VIEWPORT.width / 2, VIEWPORT.height / 2);
    await page.evaluate(COUNT_FRAMES);
    await scroll(page);
    const gaps = await page.evaluate<number[]>('frameGaps');
    const figures = [await rowCount(table), shownMs, median(gaps), percentile(gaps, 99), percentile(gaps, 100)];
    rows.push([name, ...figures.map(whole)]);
    await page.close();
  }
  const frames = ['ms between frames while it scrolls, median', 'p99', 'longest'];
  console.log(`\n${markdownTable(['list', 'rows', 'shown after ms', ...frames], rows)}`);
  await context.close();
}

async function post(count: number, event: (index: number) => object): Promise<void> {
  for (let first = 0; first < count; first += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, count - first) }, (_, index) => event(first + index));
    await postEvents(standalone.baseUrl, standalone.apiKey, batch);
  }
}

async function rowCount(table: Locator): Promise<number> {
  return Number(await table.getAttribute('aria-rowcount')) - 1;
}

async function scrollToEnd(page: Page): Promise<void> {
  const height = await page.evaluate<number>('document.documentElement.scrollHeight');
  for (let step = 0; step < SCROLL_STEPS; step += 1) await page.mouse.wheel(0, height / SCROLL_STEPS);
}

async function scrollWhileItGrows(page: Page): Promise<void> {
  const more = page.getByRole('button', { name: /^(Show more|Loading)$/ });
  while ((await more.count()) > 0) await page.mouse.wheel(0, WHEEL_PIXELS);
}

async function logIn(browser: Browser) {
  const context = await browser.newContext({ baseURL: standalone.baseUrl });
  await context.request.post('/api/v1/auth/login', { data: standalone.owner, headers: { origin: standalone.baseUrl } });
  const cookies = await context.cookies();
  await context.close();
  return cookies;
}
