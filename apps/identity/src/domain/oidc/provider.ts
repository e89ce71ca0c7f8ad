import type { Role } from '@tollkeeper/kernel';
import { z } from 'zod';
import { type MachineProvider, machineProvider } from './machine.provider.ts';
import { providerFields, roleFields, text } from './provider.fields.ts';

/** Of each kind. */
const MAX_PROVIDERS = 5;
const MAX_RULES = 200;
const MAX_SCOPES = 20;

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

/** An OpenID Connect provider at which people log in, as configured by the operator. */
export interface OidcProvider {
  kind: 'people';
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

const rule = z.strictObject({
  claim: text(200).regex(/^[^.]+(\.[^.]+){0,9}$/, 'must be names with single dots between, at most 10'),
  value: text(256),
  ...roleFields,
});

const peopleProvider = z
  .strictObject({
    kind: z.literal('people').optional(),
    id: providerFields.id,
    issuer: providerFields.issuer,
    client_id: text(500),
    client_secret: text(2_000),
    token_endpoint_auth_method: z.enum(['client_secret_basic', 'client_secret_post']).default('client_secret_basic'),
    button_text: text(60),
    scopes: z
      .array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/, 'must be the name of a scope'))
      .max(MAX_SCOPES, `must be at most ${MAX_SCOPES}`)
      .default(['openid', 'email', 'profile'])
      .refine((scopes) => scopes.includes('openid'), 'must include openid'),
    ca_file: providerFields.ca_file,
    clock_tolerance_seconds: providerFields.clock_tolerance_seconds,
    mapping: z.array(rule).max(MAX_RULES, `must be at most ${MAX_RULES} rules`).default([]),
  })
  .transform((given): OidcProvider => ({
    kind: 'people',
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

export type Provider = OidcProvider | MachineProvider;

export const forPeople = <P extends Provider>(provider: P): provider is Extract<P, OidcProvider> =>
  provider.kind === 'people';
export const forMachines = <P extends Provider>(provider: P): provider is Extract<P, MachineProvider> =>
  provider.kind === 'machines';

const provider = z.discriminatedUnion('kind', [peopleProvider, machineProvider], {
  error: ({ code }) => (code === 'invalid_union' ? 'must be people or machines' : undefined),
});

const providers = z.array(provider, 'must be a list of providers').superRefine((list, context) => {
  for (const ofKind of [list.filter(forPeople), list.filter(forMachines)]) {
    if (ofKind.length > MAX_PROVIDERS) {
      context.addIssue({ code: 'custom', message: `must be at most ${MAX_PROVIDERS} providers` });
    }
  }
  for (const [index, each] of list.entries()) {
    const before = list.slice(0, index);
    const refuse = (field: string, message: string) =>
      context.addIssue({ code: 'custom', path: [index, field], message });
    if (before.some(({ id }) => id === each.id)) refuse('id', 'is also used by another provider');
    // People and machines may have the same issuer, such as GitLab.
    if (before.some(({ kind, issuer }) => kind === each.kind && issuer === each.issuer)) {
      refuse('issuer', 'is also used by another provider');
    }
    // Otherwise the id_token of a person's login would be the token of a machine.
    if (forMachines(each) && list.filter(forPeople).some(({ clientId }) => clientId === each.audience)) {
      refuse('audience', 'is the client_id of a provider for people; choose another');
    }
  }
});

/**
 * The setting of the providers: a JSON list. Each problem names its location, such as `[0].issuer`, and never a value,
 * because values include client secrets.
 */
export const oidcProviders = z.string().transform((json, context): Provider[] => {
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
