// How fast the console's first page is there, and whether a long table scrolls.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { newId } from '@tollkeeper/kernel';
import { findChromium } from '@tollkeeper/testing/chromium';
import { markdownTable } from '@tollkeeper/testing/markdown-table';
import { newDataDirectory, removeDataDirectory, startStandalone } from '@tollkeeper/testing/standalone-process';
import { type Browser, chromium, type Page } from 'playwright-core';
import { describeMachine } from './machine.ts';
import { eventNow, postEvents, UNLIMITED_EVENTS } from './posted.events.ts';
import { median, percentile, whole } from './statistics.ts';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '9' }, agents: { type: 'string', default: '10000' } },
});
const rounds = Number(values.rounds);
const agents = Number(values.agents);

const BATCH = 1_000;
const SETTLE_MS = 1_500;
const SCROLL_STEPS = 120;
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

execFileSync(process.execPath, [join(import.meta.dirname, '../../../apps/console/scripts/build-web.ts')]);
const dataDirectory = await newDataDirectory();
const standalone = await startStandalone({ dataDirectory, env: { ...UNLIMITED_EVENTS, TOLLKEEPER_DEMO: 'true' } });
const browser = await chromium.launch({ executablePath: findChromium(), args: ['--no-sandbox'] });
try {
  console.log(`## Console\n\n${describeMachine()}\n- Chromium ${browser.version()}, ${rounds} rounds\n`);
  await reportFirstPage(browser);
  await reportLongTable(browser);
} finally {
  await browser.close();
  await standalone.end('SIGTERM');
  await removeDataDirectory(dataDirectory);
}

/** The overview, in a browser that has nothing of it, beside the page of the API's documentation. */
async function reportFirstPage(browser: Browser): Promise<void> {
  const paths = { 'overview of the sample month': '/w/demo', 'page of the API (Swagger UI), the baseline': '/docs' };
  const paints = new Map<string, number[]>(Object.keys(paths).map((name) => [name, []]));
  const shifts = new Map<string, number[]>(Object.keys(paths).map((name) => [name, []]));
  const cookies = await logIn(browser);
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, path] of Object.entries(paths)) {
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
  const baseline = median(paints.get('page of the API (Swagger UI), the baseline') ?? []);
  const rows = Object.keys(paths).map((name) => {
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

/** A table of every agent, scrolled from its top to its end. */
async function reportLongTable(browser: Browser): Promise<void> {
  for (let first = 0; first < agents; first += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, agents - first) }, (_, index) => {
      const run_id = `run-${first + index}`;
      const agent_id = `agent-${first + index}`;
      return eventNow('spend.settled', { settlement_id: newId('stl'), run_id, agent_id, amount_micros: 1_000 });
    });
    await postEvents(standalone.baseUrl, standalone.apiKey, batch);
  }
  const context = await browser.newContext({ baseURL: standalone.baseUrl, viewport: VIEWPORT });
  await context.addCookies(await logIn(browser));
  await context.addInitScript('localStorage.setItem("tollkeeper.session", "yes")');
  const page = await context.newPage();
  const startedAt = performance.now();
  await page.goto('/w/demo/agents');
  await page.getByRole('table', { name: 'Agents' }).waitFor();
  const shownMs = performance.now() - startedAt;
  const rows = Number(await page.getByRole('table', { name: 'Agents' }).getAttribute('aria-rowcount')) - 1;
  const gaps = await scroll(page);
  console.log(
    `\n${markdownTable(
      ['rows', 'shown after ms', 'ms between frames while it scrolls, median', 'p99', 'longest'],
      [[whole(rows), whole(shownMs), whole(median(gaps)), whole(percentile(gaps, 99)), whole(percentile(gaps, 100))]],
    )}`,
  );
  await context.close();
}

/** Milliseconds between the frames while the page is scrolled to its end. */
async function scroll(page: Page): Promise<number[]> {
  await page.evaluate(COUNT_FRAMES);
  const height = await page.evaluate<number>('document.documentElement.scrollHeight');
  await page.mouse.move(VIEWPORT.width / 2, VIEWPORT.height / 2);
  for (let step = 0; step < SCROLL_STEPS; step += 1) await page.mouse.wheel(0, height / SCROLL_STEPS);
  return page.evaluate<number[]>('frameGaps');
}

async function logIn(browser: Browser) {
  const context = await browser.newContext({ baseURL: standalone.baseUrl });
  await context.request.post('/api/v1/auth/login', { data: standalone.owner, headers: { origin: standalone.baseUrl } });
  const cookies = await context.cookies();
  await context.close();
  return cookies;
}
