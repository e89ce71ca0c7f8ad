/** Why a log-in by a provider failed, as far as the person may know it. The console has the words for each. */
export const OIDC_FAILURES = [
  /** The provider does not answer in time, or its certificate is not trusted. Facts: `host`, `problem`. */
  'provider_unreachable',
  /** The provider's answer is not valid OpenID Connect. Facts: `problem`. */
  'provider_invalid',
  /** The answer is not from the configured issuer. Facts: `expected`, `got`. */
  'issuer_mismatch',
  /** The provider did not let the person in, such as after "cancel". Facts: `error`, `description`. */
  'log_in_refused',
  /** The provider does not accept our client id and secret. Facts: `error`, `description`. */
  'client_refused',
  /** The provider does not accept the code, such as one used before. Facts: `error`, `description`. */
  'code_refused',
  /** The id_token is not valid for us. Facts: `problem`, and `claim`, `expected`, `got` if a claim is wrong. */
  'token_invalid',
  /** The clocks differ. Facts: `seconds` (positive: the provider is ahead), `tolerance`. */
  'clock_off',
  /** userinfo describes another person than the id_token. */
  'subject_mismatch',
  /** Facts: `claim`. */
  'claim_missing',
  /** The mapping gives the person nothing. Facts: `missing` (claims that rules need), `left_out`, `person`. */
  'not_mapped',
  /** Facts: `person`. */
  'no_account',
  /** Too many log-ins are in progress, at this provider or by this person. */
  'busy',
] as const;
export type OidcFailureCode = (typeof OIDC_FAILURES)[number];

export const FACTS = [
  'host',
  'problem',
  'expected',
  'got',
  'error',
  'description',
  'claim',
  'seconds',
  'tolerance',
  'missing',
  'left_out',
  'person',
] as const;
/** They may contain external text. They are bounded, and never contain a token, code or secret. */
export type Facts = Partial<Record<(typeof FACTS)[number], string>>;

const MAX_FACT_LENGTH = 300;

/** A log-in that failed for a reason that the person or the provider's operator can fix. */
export class OidcFailure extends Error {
  readonly code: OidcFailureCode;
  readonly facts: Facts;

  constructor(code: OidcFailureCode, facts: Partial<Record<keyof Facts, unknown>> = {}) {
    const known = Object.entries(facts).flatMap(([name, value]): [string, string][] =>
      value === undefined || value === null ? [] : [[name, printable(value)]],
    );
    super([code, ...known.map(([name, value]) => `${name}: ${value}`)].join('; '));
    this.name = 'OidcFailure';
    this.code = code;
    this.facts = Object.fromEntries(known);
  }
}

/** One line, so that external text cannot forge log lines. */
export function printable(value: unknown): string {
  const text = typeof value === 'string' ? value : asJson(value);
  return text
    .slice(0, MAX_FACT_LENGTH)
    .replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, ' ')
    .toWellFormed();
}

/** The provider's value may be nested too deeply to serialize. */
function asJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return 'not readable';
  }
}
