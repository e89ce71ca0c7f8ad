import { type Claims, claimsLeftOut, mapClaims, missingClaims, reportClaims } from './claims.ts';
import { OidcFailure } from './failure.ts';
import type { Arrival } from './log-in.store.ts';
import { personOf } from './person.ts';
import type { OidcProvider } from './provider.ts';

/** What a log-in needs of a provider's claims about a person. */
export function arrivalOf(
  provider: OidcProvider,
  claims: Claims,
  { trustedDomains, returnTo }: { trustedDomains: readonly string[]; returnTo: string },
): Arrival {
  return {
    providerId: provider.id,
    person: personOf(claims, trustedDomains),
    report: reportClaims(claims, provider.mapping),
    grants: mapClaims(claims, provider.mapping),
    returnTo,
  };
}

/** The failure for a person to whom the mapping gives nothing. Usually a claim is missing. */
export function notMapped(provider: OidcProvider, claims: Claims, { person }: Arrival): OidcFailure {
  return new OidcFailure('not_mapped', {
    person: person.email ?? person.subject,
    missing: listed(
      missingClaims(
        claims,
        provider.mapping.map(({ claim }) => claim),
      ),
    ),
    left_out: listed(claimsLeftOut(claims)),
  });
}

function listed(names: readonly string[]): string | undefined {
  return names.length === 0 ? undefined : names.join(', ');
}
