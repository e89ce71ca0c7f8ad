import { setTimeout as wait } from 'node:timers/promises';
import { type Api, type ManagementApi, TollkeeperError, TollkeeperUnavailable } from '@tollkeeper/client';
import open from 'open';
import { createLoginApi } from './connection.ts';
import { EXIT, Failure } from './failure.ts';
import type { LogIn } from './login.ts';
import { clean, note } from './output.ts';

/** Added to the interval by each answer `slow_down` (RFC 8628 §3.5). */
const SLOW_DOWN_MS = 5_000;

/** Logs in with a code that the person confirms on a page of the console (RFC 8628). */
export function inBrowser(): LogIn {
  return async (url) => {
    const api = createLoginApi({ url });
    const started = await api.call('POST /api/v1/auth/device');
    const page = pageOf(started);
    note(`Open ${page}`);
    note(`and confirm the login there, if the page shows the code ${clean(started.user_code)}.`);
    if (hasBrowser()) await open(page).catch(() => note('The browser could not be opened. Open the page yourself.'));
    try {
      return await collect(api, started);
    } finally {
      clearLine();
    }
  };
}

/** The page to open. The system would also run a program if a server other than Tollkeeper answered with a file. */
export function pageOf({ verification_uri_complete: address }: Api.StartedDeviceLogin): string {
  const page = URL.parse(address);
  if (page !== null && ['http:', 'https:'].includes(page.protocol)) return page.href;
  throw new Failure(
    'The answer names no page to confirm the login. Check --url: it must be the address of Tollkeeper itself.',
  );
}

/** Over SSH, a browser would open on the wrong computer. */
function hasBrowser({ SSH_CONNECTION, DISPLAY, WAYLAND_DISPLAY }: NodeJS.ProcessEnv = process.env): boolean {
  if (process.stderr.isTTY !== true || SSH_CONNECTION !== undefined) return false;
  return process.platform !== 'linux' || DISPLAY !== undefined || WAYLAND_DISPLAY !== undefined;
}

async function collect(api: ManagementApi, started: Api.StartedDeviceLogin): ReturnType<LogIn> {
  const endsAt = performance.now() + started.expires_in * 1_000;
  let intervalMs = started.interval * 1_000;
  if (process.stderr.isTTY !== true) note(`Waiting for up to ${Math.round(started.expires_in / 60)} minutes.`);
  for (;;) {
    const leftMs = endsAt - performance.now();
    if (leftMs <= 0) throw new Failure('Nobody confirmed the login in time. Run the command again.', EXIT.notLoggedIn);
    showLeft(leftMs);
    await wait(Math.min(intervalMs, leftMs));
    try {
      const { session, ...account } = await api.call('POST /api/v1/auth/device/token', {
        body: { device_code: started.device_code },
      });
      return { account, session };
    } catch (error) {
      intervalMs += afterFailure(error);
    }
  }
}

/** How much longer to wait before the next poll. Throws if there is no point in one. */
function afterFailure(error: unknown): number {
  if (!(error instanceof TollkeeperError)) throw error;
  if (error.code === 'slow_down') return SLOW_DOWN_MS;
  // The login is still open after an outage.
  if (error.code === 'authorization_pending' || error instanceof TollkeeperUnavailable) return 0;
  if (error.status === 429) return error.retryAfterMs ?? SLOW_DOWN_MS;
  if (error.code === 'access_denied' || error.code === 'expired_token') {
    throw new Failure(error.message, EXIT.notLoggedIn);
  }
  throw error;
}

function showLeft(leftMs: number): void {
  if (process.stderr.isTTY !== true) return;
  const seconds = Math.ceil(leftMs / 1_000);
  const left = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
  process.stderr.write(`\rWaiting for your confirmation, ${left} left. Ctrl-C cancels. `);
}

function clearLine(): void {
  if (process.stderr.isTTY === true) process.stderr.write('\r\u001b[K');
}
