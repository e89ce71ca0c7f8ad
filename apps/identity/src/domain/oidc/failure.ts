/** Why a log-in by a provider failed, as far as the person may know it. The console has the words for each. */
export const OIDC_FAILURES = [
  /** It does not answer, not in time, or its certificate is not trusted. Facts: `host`, `problem`. */
  'provider_unreachable',
  /** It answers with something else than OpenID Connect asks for. Facts: `problem`. */
  'provider_invalid',
  /** Who answers is not the configured issuer. Facts: `expected`, `got`. */
  'issuer_mismatch',
  /** The provider let the person not in, such as after "cancel". Facts: `error`, `description`. */
  'log_in_refused',
  /** The provider does not accept our client id and secret. Facts: `error`, `description`. */
  'client_refused',
  /** The provider does not accept the code, such as one used before. Facts: `error`, `description`. */
  'code_refused',
  /** The id_token is not one for us. Facts: `problem`, and `claim`, `expected`, `got` where a claim is wrong. */
  'token_invalid',
  /** The clocks differ. Facts: `seconds` (above 0: the provider is ahead), `tolerance`. */
  'clock_off',
  /** userinfo is about somebody else than the id_token. */
  'subject_mismatch',
  /** Facts: `claim`. */
  'claim_missing',
  /** The mapping gives the person nothing. Facts: `missing` (claims that rules ask for), `left_out`, `person`. */
  'not_mapped',
  /** Facts: `person`. */
  'no_account',
  /** Too many log-ins are in progress: by this provider, or of this person. */
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
/** Text from outside among them; bounded, and never a token, a code or a secret. */
export type Facts = Partial<Record<(typeof FACTS)[number], string>>;

const MAX_FACT_LENGTH = 300;

/** A log-in that failed for a reason that the person, or whoever runs the provider, can do something about. */
export class OidcFailure extends Error {
  readonly code: OidcFailureCode;
  readonly facts: Facts;

  constructor(code: OidcFailureCode, facts: Partial<Record<keyof Facts, unknown>> = {}) {
    const told = Object.entries(facts).flatMap(([name, value]): [string, string][] =>
      value === undefined || value === null ? [] : [[name, printable(value)]],
    );
    super([code, ...told.map(([name, value]) => `${name}: ${value}`)].join('; '));
    this.name = 'OidcFailure';
    this.code = code;
    this.facts = Object.fromEntries(told);
  }
}

/** One line, so that nothing from outside looks like a line of the log of its own. */
function printable(value: unknown): string {
  const text = typeof value === 'string' ? value : asJson(value);
  return text
    .slice(0, MAX_FACT_LENGTH)
    .replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, ' ')
    .toWellFormed();
}

/** A provider may nest what it sends deeper than it can be written. */
function asJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return 'not readable';
  }
}
