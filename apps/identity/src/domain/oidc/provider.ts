import { workspaceRole } from '@tollkeeper/contracts';
import type { Role } from '@tollkeeper/kernel';
import { z } from 'zod';
import { isPlainLoopback } from '../loopback.ts';

const MAX_PROVIDERS = 5;
const MAX_RULES = 200;
const MAX_SCOPES = 20;

/** Words that our own paths have in the place of a provider's id. */
const RESERVED_IDS = ['failures', 'links'];

/** Issuers of Entra ID that accept every tenant. */
const EVERY_TENANT = /^https:\/\/login\.microsoftonline\.com\/(common|organizations|consumers)(\/|$)/i;

/** People whose `claim` has this value get this role in this workspace. */
export interface MappingRule {
  /** Name of a claim, or a dotted path into objects: `groups`, `realm_access.roles`. */
  claim: string;
  /** The value that the claim equals or contains; `*` stands for any text. */
  value: string;
  /** Slug of the workspace. */
  workspace: string;
  role: Role;
}

/** An OpenID Connect provider, as configured by the operator. */
export interface OidcProvider {
  /** Identifies the provider in our paths. */
  id: string;
  issuer: string;
  clientId: string;
  clientSecret: string;
  clientAuthentication: 'client_secret_basic' | 'client_secret_post';
  buttonText: string;
  scopes: string[];
  /** File with certificates that are trusted in addition to the system's. */
  caFile: string | undefined;
  /** How far the provider's clock and ours may differ. */
  clockToleranceSeconds: number;
  mapping: MappingRule[];
}

const text = (max: number) => z.string().min(1, 'must not be empty').max(max, `must be at most ${max} characters`);

const issuer = z
  .url({ protocol: /^https?$/, error: 'must be an https:// address' })
  .max(500, 'must be at most 500 characters')
  .refine(
    (url) => url.startsWith('https:') || isPlainLoopback(url),
    'must be https; http is allowed only for loopback addresses',
  )
  .refine((url) => !/[?#@]/.test(url), 'must have no query, fragment or credentials')
  .refine((url) => !url.includes('/.well-known/'), 'must be the issuer, without /.well-known/…')
  .refine((url) => !EVERY_TENANT.test(url), 'is for every tenant; use the id of your tenant instead');

const rule = z.strictObject({
  claim: text(200).regex(/^[^.]+(\.[^.]+){0,9}$/, 'must be names with single dots between, at most 10'),
  value: text(256),
  workspace: z.string().regex(/^[a-z0-9](?:-?[a-z0-9]){1,39}$/, 'must be the slug of a workspace'),
  role: workspaceRole,
});

const provider = z
  .strictObject({
    id: z
      .string()
      .regex(/^[a-z0-9](?:-?[a-z0-9]){0,31}$/, 'must be 1 to 32 of a-z and 0-9, with single hyphens between them')
      .refine((id) => !RESERVED_IDS.includes(id), `must not be one of ${RESERVED_IDS.join(', ')}`),
    issuer,
    client_id: text(500),
    client_secret: text(2_000),
    token_endpoint_auth_method: z.enum(['client_secret_basic', 'client_secret_post']).default('client_secret_basic'),
    button_text: text(60),
    scopes: z
      .array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/, 'must be the name of a scope'))
      .max(MAX_SCOPES, `must be at most ${MAX_SCOPES}`)
      .default(['openid', 'email', 'profile'])
      .refine((scopes) => scopes.includes('openid'), 'must include openid'),
    ca_file: text(1_000).optional(),
    clock_tolerance_seconds: z
      .int('must be a whole number')
      .min(0, 'must be from 0 to 300')
      .max(300, 'must be from 0 to 300')
      .default(30),
    mapping: z.array(rule).max(MAX_RULES, `must be at most ${MAX_RULES} rules`).default([]),
  })
  .transform((given): OidcProvider => ({
    id: given.id,
    issuer: given.issuer,
    clientId: given.client_id,
    clientSecret: given.client_secret,
    clientAuthentication: given.token_endpoint_auth_method,
    buttonText: given.button_text,
    scopes: given.scopes,
    caFile: given.ca_file,
    clockToleranceSeconds: given.clock_tolerance_seconds,
    mapping: given.mapping,
  }));

const providers = z
  .array(provider, 'must be a list of providers')
  .max(MAX_PROVIDERS, `must be at most ${MAX_PROVIDERS} providers`)
  .superRefine((list, context) => {
    for (const field of ['id', 'issuer'] as const) {
      for (const [index, each] of list.entries()) {
        if (list.findIndex((other) => other[field] === each[field]) === index) continue;
        context.addIssue({ code: 'custom', path: [index, field], message: 'is also used by another provider' });
      }
    }
  });

/**
 * The setting of the providers: a JSON list. Each problem names its location, such as `[0].issuer`, and never a value,
 * because values include client secrets.
 */
export const oidcProviders = z.string().transform((json, context): OidcProvider[] => {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    context.addIssue({ code: 'custom', message: 'is not JSON' });
    return z.NEVER;
  }
  const result = providers.safeParse(value);
  if (result.success) return result.data;
  for (const { path, message } of result.error.issues) {
    context.addIssue({ code: 'custom', message: `${placeOf(path)}${message}` });
  }
  return z.NEVER;
});

function placeOf(path: readonly PropertyKey[]): string {
  const place = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');
  return place === '' ? '' : `${place} `;
}
