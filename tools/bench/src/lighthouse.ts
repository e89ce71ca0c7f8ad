import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '@tollkeeper/managed-process';
import { findChromium } from '@tollkeeper/testing/chromium';
import { type BrowserContext, chromium } from 'playwright-core';

const run = promisify(execFile);

/** Not a dependency, because it is 185 MB and nothing else needs it. npm keeps it in its cache. */
const LIGHTHOUSE = 'lighthouse@12.8.2';
export const CATEGORIES = ['performance', 'accessibility', 'best-practices'];
const MAX_REPORT_BYTES = 64 * 1024 * 1024;
const MAX_MS = 300_000;

/**
 * Lighthouse's desktop scores of a page, 0 to 100, in the order of the categories, in a browser prepared by `prepare`.
 * Rejects if npm cannot get Lighthouse.
 */
export async function lighthouseScores(
  url: string,
  prepare: (context: BrowserContext) => Promise<void>,
): Promise<number[]> {
  const directory = await mkdtemp(join(tmpdir(), 'tollkeeper-lighthouse-'));
  const port = await freePort();
  const args = ['--no-sandbox', `--remote-debugging-port=${port}`];
  const context = await chromium.launchPersistentContext(directory, { executablePath: findChromium(), args });
  try {
    await prepare(context);
    const options = ['--preset=desktop', '--output=json', '--quiet', '--disable-storage-reset', `--port=${port}`];
    const { stdout } = await run(
      'npm',
      [
        ...['exec', '--yes', `--package=${LIGHTHOUSE}`, '--', 'lighthouse', url, ...options],
        `--only-categories=${CATEGORIES.join()}`,
      ],
      // Runs npm outside of this project, whose workspaces are irrelevant for the command.
      { cwd: directory, maxBuffer: MAX_REPORT_BYTES, timeout: MAX_MS },
    );
    const { categories } = JSON.parse(stdout) as { categories: Record<string, { score: number }> };
    return CATEGORIES.map((name) => (categories[name]?.score ?? NaN) * 100);
  } finally {
    await context.close();
    await rm(directory, { recursive: true, force: true });
  }
}
