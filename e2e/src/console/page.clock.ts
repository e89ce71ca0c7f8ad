import { eventually } from '@tollkeeper/testing';
import type { Page } from 'playwright-core';

/** The longest wait for an answer, reached only by failures. */
const MOST_MS = 10_000;

/** Refresh interval of pages. */
const LIVE_MS = 5_000;

/** Advances the page's fake clock until the check holds. */
export async function passUntil(page: Page, check: () => Promise<unknown>): Promise<void> {
  // Doubles the wait for each answer, because the page gives up requests after some time of its own clock, too.
  for (let timeoutMs = 500; ; timeoutMs *= 2) {
    await page.clock.fastForward(LIVE_MS);
    try {
      await eventually(check, { timeoutMs });
      return;
    } catch (error) {
      if (timeoutMs > MOST_MS) throw error;
    }
  }
}
