import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { findChromium } from '@tollkeeper/testing/chromium';
import { type Browser, chromium, type Page } from 'playwright-core';
import type { ApiClient } from './api.client.ts';

/** Settings of a browser in which pages are viewed. */
export interface Look {
  size: 'desktop' | 'phone';
  theme: 'light' | 'dark';
}

/** Two looks that differ in every setting. `expectFit` checks each of them in the other theme as well. */
export const LOOKS: Look[] = [
  { size: 'desktop', theme: 'light' },
  { size: 'phone', theme: 'dark' },
];

/** `it` for a guarantee in which size and theme play no part: the test runs in the first of the looks alone. */
export function inOneLook(look: Look): (name: string, test: () => Promise<void>) => void {
  return look === LOOKS[0] ? it : () => undefined;
}

const SIZES = { desktop: { width: 1280, height: 900 }, phone: { width: 360, height: 780 } };

/** Far longer than anything takes, even on a busy machine: only failures take this long. */
const PATIENCE_MS = 40_000;

/** A page in a browser of its own, which shares nothing with other pages. */
export interface Visit {
  page: Page;
  /**
   * Problems in the page so far: console errors, including violations of its policy, exceptions, and requests that
   * failed or were answered with 400 or above. `takeProblems` empties the list, for problems that a test provokes.
   */
  takeProblems(): string[];
  /** Checks that nothing on the page is too wide, or too narrow for its text. */
  expectInPlace(): Promise<void>;
  /** The same, and that the page, or what is open on it, is accessible (axe), in light and in dark. */
  expectFit(): Promise<void>;
  /** Leaves the page for an empty one, so that another test can use its browser. Fails as `close` does. */
  leave(): Promise<void>;
  close(): Promise<void>;
}

/** A Chromium for the suites of this file, and pages in it. Closing a page with problems fails the test. */
export function useBrowser(baseUrl: () => string): {
  /** With a user, the browser has that client's session. */
  visit(look: Look, user?: ApiClient): Promise<Visit>;
} {
  let browser: Browser;
  let axe: string;
  beforeAll(async () => {
    // Chromium needs --no-sandbox as root. The pages are our own.
    const args = ['--no-sandbox', '--disable-dev-shm-usage'];
    browser = await chromium.launch({ executablePath: findChromium(), args });
    axe = await readFile(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
  });
  afterAll(() => inTime('close', browser?.close()));

  return {
    async visit({ size, theme }, user) {
      const options = {
        baseURL: baseUrl(),
        viewport: SIZES[size],
        hasTouch: size === 'phone',
        colorScheme: theme,
        timezoneId: 'America/New_York',
        permissions: ['clipboard-read', 'clipboard-write'],
        ...(user && { storageState: sessionOf(user, baseUrl()) }),
      };
      const context = await inTime('open a window', browser.newContext(options));
      context.setDefaultTimeout(PATIENCE_MS);
      const page = await inTime('open a page', context.newPage());
      const evaluate = page.evaluate.bind(page);
      page.evaluate = ((...call: Parameters<typeof evaluate>) =>
        inTime('run a script', evaluate(...call))) as Page['evaluate'];
      const problems: string[] = [];
      page.on('console', (message) => {
        if (message.type() === 'error') problems.push(message.text());
      });
      page.on('pageerror', (error) => problems.push(String(error)));
      page.on('requestfailed', (request) => {
        const reason = request.failure()?.errorText ?? '';
        // Leaving a page aborts its requests.
        if (reason !== 'net::ERR_ABORTED') problems.push(`${request.method()} ${request.url()}: ${reason}`);
      });
      page.on('response', (response) => {
        if (response.status() >= 400) problems.push(`${response.status()} ${new URL(response.url()).pathname}`);
      });
      const takeProblems = () => problems.splice(0);
      async function expectInPlace(): Promise<void> {
        const { pathname } = new URL(page.url());
        expect([pathname, await page.evaluate<string[]>(MISFITS)]).toEqual([pathname, []]);
      }
      return {
        page,
        takeProblems,
        expectInPlace,
        async expectFit() {
          await expectInPlace();
          const { pathname } = new URL(page.url());
          // Uses the debugger, because the policy of the page forbids scripts made from text.
          if (!(await page.evaluate<boolean>('"axe" in globalThis'))) {
            const debug = await context.newCDPSession(page);
            await inTime('take a script', debug.send('Runtime.evaluate', { expression: axe }));
            await inTime('take a script', debug.detach());
          }
          expect([pathname, theme, await violations(page)]).toEqual([pathname, theme, []]);
          const other = theme === 'light' ? 'dark' : 'light';
          await page.emulateMedia({ colorScheme: other });
          expect([pathname, other, await violations(page, { runOnly: OF_COLOURS })]).toEqual([pathname, other, []]);
          await page.emulateMedia({ colorScheme: theme });
        },
        async leave() {
          await page.mouse.move(0, 0);
          await page.goto('about:blank');
          expect(takeProblems()).toEqual([]);
        },
        async close() {
          await inTime('close a page', context.close());
          expect(takeProblems()).toEqual([]);
        },
      };
    },
  };
}

/** The browser state of a logged-in user. */
function sessionOf({ cookie }: ApiClient, baseUrl: string) {
  const { origin, hostname } = new URL(baseUrl);
  const [name = '', value = ''] = (cookie ?? '').split('=');
  const place = { domain: hostname, path: '/', expires: -1, httpOnly: true, secure: false, sameSite: 'Lax' as const };
  return {
    cookies: [{ name, value, ...place }],
    origins: [{ origin, localStorage: [{ name: 'tollkeeper.session', value: 'yes' }] }],
  };
}

/** Limits calls for which Playwright has no timeout, so that a hanging Chromium does not block a test for long. */
async function inTime<T>(what: string, done: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const error = new Error(`Chromium did not ${what} within ${PATIENCE_MS / 1_000} s.`);
    timer = setTimeout(() => reject(error), PATIENCE_MS);
  });
  try {
    return await Promise.race([done, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * The violations that axe finds on the page, or in its open dialogs: nothing behind them can be used. It describes
 * nothing else, which would take longer than its checks.
 */
async function violations(page: Page, options: { runOnly?: string[] } = {}): Promise<string[]> {
  const where = (await page.locator(DIALOG).count()) > 0 ? DIALOG : 'html';
  return page.evaluate(
    async (asked) => {
      const { axe: checker } = globalThis as typeof globalThis & { axe: Axe };
      const found = await checker.run(asked.where, asked.options);
      return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
    },
    { where, options: { ...options, resultTypes: ['violations'], selectors: false } },
  );
}

const DIALOG = 'dialog[open]';

/** The rules of axe about colors. */
const OF_COLOURS = ['color-contrast', 'link-in-text-block'];

/** Longest word in letters. Longer names and URLs may be broken. */
const LONGEST_WORD = 14;

/**
 * The parts of a page that do not fit: a page, dialog or table that is wider than its container, and so cut off or
 * scrolled sideways, and words that are broken because their container is too narrow.
 */
const MISFITS = `(() => {
  const found = [];
  const name = (element) => element.getAttribute('aria-label') ?? element.querySelector('h1, h2')?.innerText;
  const wider = (what, element) => {
    const by = element.scrollWidth - element.clientWidth;
    if (by > 0) found.push(what + ' is ' + by + ' px wider than its place');
  };
  wider('the page', document.documentElement);
  for (const dialog of document.querySelectorAll('dialog[open]')) {
    const { left, right } = dialog.getBoundingClientRect();
    const what = 'the dialog ' + name(dialog);
    if (left < 0 || right > innerWidth) found.push(what + ' is from ' + left + ' to ' + right + ' of ' + innerWidth);
    wider('what is in ' + what, dialog);
  }
  for (const table of document.querySelectorAll('table')) wider('the table ' + name(table), table.parentElement);
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  while (texts.nextNode()) {
    const { currentNode: node } = texts;
    if (node.parentElement.closest('svg, option, code')) continue;
    for (const { 0: word, index } of node.data.matchAll(/[^\\s\\u002d\\u2013]+/g)) {
      // With a sign of ids and addresses in it, or letters beside digits that are no unit ("12h"), it is none.
      if (/[_@/]|\\p{L}[.]?\\d|\\d\\p{L}{3}/u.test(word)) continue;
      if (word.replace(/\\P{L}/gu, '').length > ${LONGEST_WORD}) continue;
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
      if (lines.size > 1) found.push('"' + word + '" is broken');
    }
  }
  return found;
})()`;

interface Axe {
  run(where: string, options: object): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
}
