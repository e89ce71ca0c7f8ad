import { AppError } from '@tollkeeper/kernel';
import { type Facts, printable } from './failure.ts';

type Got = Partial<Record<'expected' | 'got' | 'claim' | 'seconds' | 'subject' | 'missing' | 'workspace', string>>;

/** Why a machine's token is refused, in words for its owner. None of the facts is the token. */
const SENTENCES = {
  token_malformed: () => 'The id_token is not a signed JSON Web Token. Send it exactly as its issuer returns it.',
  algorithm_refused: ({ got }) =>
    `The id_token is signed with ${got}. Only the algorithms RS, PS, ES and EdDSA are accepted.`,
  issuer_mismatch: ({ got, expected }) => `The id_token is from the issuer ${got}, and not from ${expected}.`,
  audience_mismatch: ({ got, expected }) =>
    `The id_token is for the audience ${got}. Request a token for ${expected} alone.`,
  key_unknown: () =>
    'The id_token is signed with a key that its issuer does not publish. If the keys have just changed, try again in 10 seconds.',
  signature_invalid: () => 'The signature of the id_token is wrong. Send it exactly as its issuer returns it.',
  token_expired: ({ seconds }) =>
    `The id_token expired ${seconds} seconds ago. Request a new one just before you log in.`,
  token_not_yet_valid: ({ claim, seconds }) =>
    `The id_token is not valid for another ${seconds} seconds (${claim}). Correct the clock of its issuer or of Tollkeeper.`,
  token_too_old: ({ seconds }) =>
    `The id_token was issued ${seconds} seconds ago, which is too long. Request a new one just before you log in.`,
  claim_invalid: ({ claim }) => `The claim ${claim} of the id_token is missing or has the wrong form.`,
  token_replayed: () => 'The id_token was already used. Request a new one for each login.',
  not_mapped: ({ subject, missing, workspace }) =>
    [
      `No rule of this provider matches the id_token of ${subject}`,
      workspace === undefined ? '.' : ` for the workspace ${workspace}.`,
      missing === undefined ? '' : ` It does not have these claims of the rules: ${missing}.`,
    ].join(''),
  workspace_unknown: ({ workspace }) =>
    `The rule for the id_token names the workspace ${workspace}, which does not exist.`,
} satisfies Record<string, (facts: Got) => string>;

export type TokenRefusalCode = keyof typeof SENTENCES;

/** Tokens that are valid, but open nothing here. */
const FORBIDDEN: ReadonlySet<TokenRefusalCode> = new Set(['not_mapped', 'workspace_unknown']);

/** A machine's token that is refused. The message is for the sender and for the log. */
export class TokenRefusal extends Error {
  readonly code: TokenRefusalCode;

  constructor(code: TokenRefusalCode, facts: Partial<Record<keyof Got, unknown>> = {}) {
    const known = Object.entries(facts).filter(([, value]) => value !== undefined);
    super(SENTENCES[code](Object.fromEntries(known.map(([name, value]) => [name, printable(value)]))));
    this.name = 'TokenRefusal';
    this.code = code;
  }

  toAppError(): AppError {
    return new AppError(FORBIDDEN.has(this.code) ? 'forbidden' : 'unauthenticated', this.message);
  }
}

/** The error while an issuer cannot be asked for its keys. */
export function keysUnavailable({ expected, got, host, problem }: Facts, retryAfterSeconds: number): AppError {
  const reason = host === undefined ? problem : `${host}: ${problem}`;
  const mismatch = expected === undefined ? undefined : `its metadata names the issuer ${got}, and not ${expected}`;
  const message = `The keys of the id_token's issuer cannot be read (${mismatch ?? reason}). Try again shortly.`;
  return new AppError('service_unavailable', message, { retryAfterSeconds });
}
