import { type Role, ranksAtLeast } from '@tollkeeper/kernel';
import type { MappingRule } from './provider.ts';

/** What a provider says about a person: the claims of the id_token and of userinfo. */
export type Claims = Readonly<Record<string, unknown>>;

/**
 * Merges the claims; the id_token's win. But `email_verified` applies only to the e-mail beside it: the other e-mail
 * may be a different one, which people can often choose freely.
 */
export function mergeClaims(idToken: Claims, userInfo: Claims): Claims {
  const merged = { ...userInfo, ...idToken };
  if (idToken['email'] === userInfo['email']) return merged;
  const { email_verified } = idToken['email'] === undefined ? userInfo : idToken;
  return Object.fromEntries(Object.entries({ ...merged, email_verified }).filter(([, value]) => value !== undefined));
}

/** Further values of a claim are ignored. Providers with more values leave them out anyway. */
const MAX_VALUES = 2_000;
const MAX_SHOWN_VALUES = 100;
const MAX_SHOWN_LENGTH = 200;
const MAX_SHOWN_NAMES = 100;

/**
 * The value of a claim. Names that contain dots, such as `https://example.com/groups`, are found too: the longest name
 * that an object has wins. Undefined if there is none.
 */
export function claimAt(claims: unknown, path: string): unknown {
  if (typeof claims !== 'object' || claims === null) return undefined;
  if (Object.hasOwn(claims, path)) return (claims as Claims)[path];
  for (let dot = path.lastIndexOf('.'); dot > 0; dot = path.lastIndexOf('.', dot - 1)) {
    const name = path.slice(0, dot);
    if (!Object.hasOwn(claims, name)) continue;
    const found = claimAt((claims as Claims)[name], path.slice(dot + 1));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Whether a text matches a pattern, in which `*` stands for any text. Case-sensitive. */
export function matchesGlob(text: string, pattern: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return text === pattern;
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  let from = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, from);
    if (found === -1) return false;
    from = found + part.length;
  }
  return from <= text.length - last.length;
}

/** A role in a workspace, by its slug. */
export interface Grant {
  workspace: string;
  role: Role;
  /** The rule that granted it. */
  rule: MappingRule;
}

/** The grants of a person, one per workspace: the highest role, from the first rule that gives it. */
export function mapClaims(claims: Claims, mapping: readonly MappingRule[]): Grant[] {
  const grants = new Map<string, Grant>();
  for (const rule of mapping) {
    const known = grants.get(rule.workspace);
    if (known !== undefined && ranksAtLeast(known.role, rule.role)) continue;
    if (!hasValue(claims, rule.claim, rule.value)) continue;
    grants.set(rule.workspace, { workspace: rule.workspace, role: rule.role, rule });
  }
  return [...grants.values()];
}

/** Whether the claim equals or contains a value that matches the pattern. */
export function hasValue(claims: Claims, claim: string, pattern: string): boolean {
  return valuesOf(claimAt(claims, claim)).some((value) => matchesGlob(value, pattern));
}

/** Those of the claims that the provider did not send, each once. */
export function missingClaims(claims: Claims, asked: readonly string[]): string[] {
  return [...new Set(asked)].filter((claim) => claimAt(claims, claim) === undefined);
}

/**
 * Claims that the provider left out because they have too many values, naming a source instead (`_claim_names`, OpenID
 * Connect Core §5.6.2). Entra ID does so with more than 200 groups.
 */
export function claimsLeftOut(claims: Claims): string[] {
  const names = claims['_claim_names'];
  return typeof names === 'object' && names !== null ? Object.keys(names).slice(0, MAX_SHOWN_NAMES) : [];
}

function valuesOf(value: unknown): string[] {
  const list = Array.isArray(value) ? value.slice(0, MAX_VALUES) : [value];
  return list.flatMap((each: unknown) =>
    typeof each === 'string' || typeof each === 'number' || typeof each === 'boolean' ? [String(each)] : [],
  );
}

/** A claim as shown to owners. */
export interface ShownClaim {
  name: string;
  /** Its values as text, without objects. Null if the provider did not send the claim. */
  values: string[] | null;
}

/** What is stored of a log-in's claims, so that owners can debug their mapping. Bounded, and without tokens. */
export interface ClaimsReport {
  /** The names of all claims. */
  names: string[];
  /** The identifying claims, and those that a rule needs. */
  claims: ShownClaim[];
}

/** Claims that identify a person. */
export const IDENTIFYING_CLAIMS = ['email', 'email_verified', 'name', 'preferred_username'];

export function reportClaims(claims: Claims, mapping: readonly MappingRule[]): ClaimsReport {
  const shown = new Set([...IDENTIFYING_CLAIMS, ...mapping.map(({ claim }) => claim)]);
  return {
    names: Object.keys(claims)
      .slice(0, MAX_SHOWN_NAMES)
      .map((name) => name.slice(0, MAX_SHOWN_LENGTH))
      .sort(),
    claims: [...shown].map((name) => {
      const value = claimAt(claims, name);
      if (value === undefined) return { name, values: null };
      const values = valuesOf(value).slice(0, MAX_SHOWN_VALUES);
      return { name, values: values.map((each) => each.slice(0, MAX_SHOWN_LENGTH)) };
    }),
  };
}
