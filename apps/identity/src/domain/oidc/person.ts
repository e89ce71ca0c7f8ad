import { z } from 'zod';
import { type Claims, claimAt } from './claims.ts';

/** A person as a provider knows them. Who they are is said by issuer and subject, never by the e-mail alone. */
export interface Person {
  issuer: string;
  subject: string;
  /** Lower case; null where the provider sends none that could be one. */
  email: string | null;
  /** The provider says that the e-mail is verified, or is believed about its domain. */
  emailProven: boolean;
  name: string | null;
}

const email = z.email().max(254).toLowerCase();
const MAX_NAME_LENGTH = 120;

/** `claims` are those of a checked id_token, so `iss` and `sub` are there. */
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

/** Some providers send the word in place of the boolean. */
function saysVerified(claims: Claims): boolean {
  return claims['email_verified'] === true || claims['email_verified'] === 'true';
}

function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1);
}
