import { eventually } from '@tollkeeper/testing';
import type { Page } from 'playwright-core';

/** The last wait for an answer: only a failure comes to it. */
const MOST_MS = 60_000;

/** A page asks again after this time for what changes by itself. */
const LIVE_MS = 5_000;

/** Lets the time of a page with a clock of its own pass until the check holds, and none of ours meanwhile. */
export async function passUntil(page: Page, check: () => Promise<unknown>): Promise<void> {
  // Twice as long for each answer: what is asked for is given up after some time of the page, too.
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
