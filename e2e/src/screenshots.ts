// Writes the pictures of the README: pages of the running product with its sample month.
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { findChromium } from '@tollkeeper/testing/chromium';
import { newDataDirectory, removeDataDirectory, startStandalone } from '@tollkeeper/testing/standalone-process';
import { chromium } from 'playwright-core';
import { fillLogIn } from './console/person.ts';

const ROOT = join(import.meta.dirname, '../..');
const FOLDER = join(ROOT, 'docs/images');
const PICTURES = [
  { name: 'overview-light', theme: 'light', below: '', shows: 'Runaway agent' },
  { name: 'overview-dark', theme: 'dark', below: '', shows: 'Runaway agent' },
  { name: 'budgets-light', theme: 'light', below: '/budgets', shows: 'Plans' },
] as const;

execFileSync(process.execPath, [join(ROOT, 'apps/console/scripts/build-web.ts')], { stdio: 'inherit' });
mkdirSync(FOLDER, { recursive: true });
const dataDirectory = await newDataDirectory();
const standalone = await startStandalone({ dataDirectory, env: { TOLLKEEPER_DEMO: 'true' } });
const browser = await chromium.launch({ executablePath: findChromium(), args: ['--no-sandbox'] });
try {
  for (const { name, theme, below, shows } of PICTURES) {
    const viewport = { width: 1360, height: 860 };
    const page = await browser.newPage({ baseURL: standalone.baseUrl, viewport, colorScheme: theme });
    await page.goto(`/w/demo${below}`);
    await fillLogIn(page, standalone.owner);
    // The sample traffic begins with an agent that runs away.
    await page.getByText(shows, { exact: true }).first().waitFor();
    await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' });
    await page.screenshot({ path: join(FOLDER, `${name}.png`) });
    await page.close();
  }
} finally {
  await browser.close();
  await standalone.end('SIGTERM');
  await removeDataDirectory(dataDirectory);
}
