import type { Locator, Page } from 'playwright-core';

/** More than the focusable elements of any page here. */
const MOST_TABS = 80;

const FINGER_STEPS = 20;

export interface LogIn {
  email: string;
  password: string;
}

/** Fills in the log-in form. */
export async function fillLogIn(page: Page, { email, password }: LogIn): Promise<void> {
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
}

/** Moves the focus to an element with Tab, forwards from its present place. Fails if the keyboard cannot reach it. */
export async function tabTo(page: Page, target: Locator): Promise<void> {
  const focused = target.and(page.locator(':focus'));
  for (let step = 0; step < MOST_TABS && (await focused.count()) === 0; step += 1) await page.keyboard.press('Tab');
  if ((await focused.count()) !== 1) throw new Error(`The keyboard does not reach ${String(target)}`);
}

interface Place {
  x: number;
  y: number;
}

/** Touches the page, drags to another place in small steps, and lifts the finger there. */
export async function drawFinger(page: Page, from: Place, to: Place): Promise<void> {
  const debug = await page.context().newCDPSession(page);
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', touchPoints: Place[]) =>
    debug.send('Input.dispatchTouchEvent', { type, touchPoints });
  await touch('touchStart', [from]);
  for (let step = 1; step <= FINGER_STEPS; step += 1) {
    const part = step / FINGER_STEPS;
    await touch('touchMove', [{ x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part }]);
  }
  await touch('touchEnd', []);
  await debug.detach();
}

/** The table row with this text. */
export function rowOf(page: Page, text: string) {
  return page.getByRole('row').filter({ hasText: text });
}

/** The card with this heading. */
export function cardOf(page: Page, heading: string) {
  return page.locator('section').filter({ has: page.getByRole('heading', { name: heading, exact: true }) });
}

/** Undoes the change that a toast reports; there may be other toasts. */
export async function undo(page: Page, message: string): Promise<void> {
  const toast = page.getByRole('status').locator('div', { hasText: message });
  await toast.getByRole('button', { name: 'Undo' }).click();
}
