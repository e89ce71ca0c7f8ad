// Makes the pictures of the README: pages of the running product with its sample month.
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { findChromium } from '@tollkeeper/testing/chromium';
import { newDataDirectory, removeDataDirectory, startStandalone } from '@tollkeeper/testing/standalone-process';
import { chromium } from 'playwright-core';
import { fillLogIn } from './console/person.ts';

const ROOT = join(import.meta.dirname, '../..');
const FOLDER = join(ROOT, 'docs/images');
/** The sample traffic starts with a runaway agent: its alert fires, and its blocked calls are counted. */
const RUNAWAY = [/^Runaway agent$/, /^[1-9]\S* by a budget$/];
/** Below a chart, once it is drawn. */
const CHART = /^Show as table$/;
const PICTURES = [
  { name: 'overview-light', theme: 'light', below: '', shows: [...RUNAWAY, CHART] },
  { name: 'overview-dark', theme: 'dark', below: '', shows: [...RUNAWAY, CHART] },
  { name: 'budgets-light', theme: 'light', below: '/budgets', shows: [/^All budgets$/] },
] as const;
/** Far longer than the agent runs, even on a busy machine. */
const PATIENCE_MS = 600_000;

execFileSync(process.execPath, [join(ROOT, 'apps/console/scripts/build-web.ts')], { stdio: 'inherit' });
mkdirSync(FOLDER, { recursive: true });
const dataDirectory = await newDataDirectory();
const standalone = await startStandalone({ dataDirectory, env: { TOLLKEEPER_DEMO: 'true' } });
const browser = await chromium.launch({ executablePath: findChromium(), args: ['--no-sandbox'] });
try {
  for (const { name, theme, below, shows } of PICTURES) {
    const viewport = { width: 1360, height: 860 };
    const page = await browser.newPage({ baseURL: standalone.baseUrl, viewport, colorScheme: theme });
    page.setDefaultTimeout(PATIENCE_MS);
    await page.goto(`/w/demo${below}`);
    await fillLogIn(page, standalone.owner);
    for (const fact of shows) await page.getByText(fact).first().waitFor();
    await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' });
    await page.screenshot({ path: join(FOLDER, `${name}.png`) });
    await page.close();
  }
} finally {
  await browser.close();
  await standalone.end('SIGTERM');
  await removeDataDirectory(dataDirectory);
}
