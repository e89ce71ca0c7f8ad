import { z } from 'zod';
import { type Claims, claimAt } from './claims.ts';

/** A person as a provider knows them. They are identified by issuer and subject, never by the e-mail alone. */
export interface Person {
  issuer: string;
  subject: string;
  /** Lower case; null if the provider sends no valid one. */
  email: string | null;
  /** Whether the provider says that the e-mail is verified, or is trusted for its domain. */
  emailProven: boolean;
  name: string | null;
}

const email = z.email().max(254).toLowerCase();
const MAX_NAME_LENGTH = 120;

/** `claims` must be from a checked id_token, so they have `iss` and `sub`. */
export function personOf(claims: Claims, trustedDomains: readonly string[]): Person {
  const address = email.safeParse(claims['email']).data ?? null;
  const name = claimAt(claims, 'name');
  return {
    issuer: String(claims['iss']),
    subject: String(claims['sub']),
    email: address,
    emailProven: address !== null && (saysVerified(claims) || trustedDomains.includes(domainOf(address))),
    name: typeof name === 'string' && name.trim() !== '' ? name.trim().slice(0, MAX_NAME_LENGTH) : null,
  };
}

/** Some providers send the text "true" instead of the boolean. */
function saysVerified(claims: Claims): boolean {
  return claims['email_verified'] === true || claims['email_verified'] === 'true';
}

function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1);
}
