import { createHmac, timingSafeEqual } from 'node:crypto';
import type { TenantId } from '@tollkeeper/kernel';

/** How long the link of a request is good. */
export const RAISE_LINK_MS = 3_600_000;

/** A request for a raise, as its link names it. */
export interface LinkedRaise {
  tenantId: TenantId;
  raiseId: string;
}

/**
 * The token in the link of a request: until when it is good, and a signature. It follows from the request and a secret
 * that the services share, so nobody stores it, and every attempt to send it has the same one. The logger removes
 * what begins like it.
 */
export function signRaiseLink(secret: string, raise: LinkedRaise, expiresAt: number): string {
  const seconds = Math.floor(expiresAt / 1000).toString(36);
  return `tk_raise_${seconds}_${signatureOf(secret, raise, seconds).toString('base64url')}`;
}

/** Whether the token is one of this request, and still good at the time. */
export function checkRaiseLink(
  secret: string,
  raise: LinkedRaise,
  token: string,
  now: number,
): 'good' | 'expired' | 'forged' {
  const [, seconds, signature] = /^tk_raise_([0-9a-z]{1,9})_([A-Za-z0-9_-]{43})$/.exec(token) ?? [];
  if (seconds === undefined || signature === undefined) return 'forged';
  const given = Buffer.from(signature, 'base64url');
  if (!timingSafeEqual(given, signatureOf(secret, raise, seconds))) return 'forged';
  return Number.parseInt(seconds, 36) * 1000 > now ? 'good' : 'expired';
}

function signatureOf(secret: string, { tenantId, raiseId }: LinkedRaise, seconds: string): Buffer {
  // A key of its own, so that no other use of the secret can sign a link.
  const key = createHmac('sha256', secret).update('tollkeeper:raise-link').digest();
  return createHmac('sha256', key).update(`${tenantId}\n${raiseId}\n${seconds}`).digest();
}
