import type { Role } from '@tollkeeper/kernel';
import { z } from 'zod';
import { providerFields, providerUrl, roleFields, text } from './provider.fields.ts';

const MAX_RULES = 200;
const MAX_CLAIMS = 20;
const MAX_KEYS = 20;

/** Machines whose tokens have all these claims log in as this service account, with this role in this workspace. */
export interface MachineRule {
  /** Names or dotted paths of claims, each with the value that it equals or contains; `*` stands for any text. */
  claims: Readonly<Record<string, string>>;
  /** Slug of the workspace. */
  workspace: string;
  /** Name of the service account, unique in the workspace and at the issuer. */
  account: string;
  role: Role;
}

/** A JSON Web Key. */
type PublicKey = z.infer<typeof publicKey>;

/** An issuer of tokens of machines, such as runners of jobs, as configured by the operator. */
export interface MachineProvider {
  kind: 'machines';
  /** Identifies the provider in our paths. */
  id: string;
  issuer: string;
  /** The only audience of a token. */
  audience: string;
  /** Where the issuer publishes its keys; undefined to ask its metadata. */
  jwksUri: string | undefined;
  /** The issuer's keys, if nothing is to be asked. */
  jwks: { keys: PublicKey[] } | undefined;
  caFile: string | undefined;
  clockToleranceSeconds: number;
  mapping: MachineRule[];
}

/**
 * Issuers at which anybody can get a token: the claims that only one owner's tokens have, and how a subject begins if
 * it names the owner. Owners of other repositories choose which claims their subjects consist of, and may call a public
 * workflow of ours, which is then their `job_workflow_ref`.
 */
const SHARED_ISSUERS: Readonly<Record<string, { owning: readonly string[]; subject: string }>> = {
  'https://token.actions.githubusercontent.com': {
    owning: ['repository', 'repository_id', 'repository_owner', 'repository_owner_id'],
    subject: 'repo:',
  },
  'https://gitlab.com': {
    owning: ['project_path', 'project_id', 'namespace_path', 'namespace_id'],
    subject: 'project_path:',
  },
};

/** Whether the value leaves no choice of the owner: `acme/*` does, `acme*` does not. */
function namesOwner(value: string | undefined): boolean {
  if (value === undefined) return false;
  const [fixed = '', ...rest] = value.split('*');
  return rest.length === 0 || fixed.includes('/');
}

const claimName = z
  .string()
  .max(200, 'must be at most 200 characters')
  .regex(/^[^.]+(\.[^.]+){0,9}$/, 'must be names with single dots between, at most 10');

const rule = z.strictObject({
  claims: z
    .record(claimName, text(256).regex(/[^*]/, 'must have more than *, which every token matches'))
    .refine((claims) => Object.keys(claims).length > 0, 'must have a claim; otherwise every token would match')
    .refine((claims) => Object.keys(claims).length <= MAX_CLAIMS, `must be at most ${MAX_CLAIMS} claims`),
  account: z
    .string()
    .regex(/^[a-z0-9](?:-?[a-z0-9]){0,39}$/, 'must be 1 to 40 of a-z and 0-9, with single hyphens between them'),
  ...roleFields,
});

const publicKey = z
  .looseObject({ kty: z.enum(['RSA', 'EC', 'OKP'], 'must be RSA, EC or OKP') })
  .refine((key) => !('d' in key), 'must be a public key, without d');

export const machineProvider = z
  .strictObject({
    kind: z.literal('machines'),
    id: providerFields.id,
    issuer: providerFields.issuer,
    audience: text(500),
    jwks_uri: providerUrl.optional(),
    jwks: z
      .strictObject({
        keys: z.array(publicKey).min(1, 'must have a key').max(MAX_KEYS, `must be at most ${MAX_KEYS} keys`),
      })
      .optional(),
    ca_file: providerFields.ca_file,
    clock_tolerance_seconds: providerFields.clock_tolerance_seconds,
    mapping: z.array(rule).min(1, 'must have a rule').max(MAX_RULES, `must be at most ${MAX_RULES} rules`),
  })
  .superRefine(({ issuer, jwks, jwks_uri: jwksUri, mapping }, context) => {
    const refuse = (path: PropertyKey[], message: string) => context.addIssue({ code: 'custom', path, message });
    if (jwks !== undefined && jwksUri !== undefined) refuse(['jwks'], 'and jwks_uri exclude each other');
    const shared = SHARED_ISSUERS[issuer];
    for (const [index, { claims, workspace, account, role }] of mapping.entries()) {
      // A role belongs to the account, so a rule with another role would also change the sessions of this one.
      const known = mapping.find((each) => each.workspace === workspace && each.account === account);
      if (known !== undefined && known.role !== role) {
        refuse(['mapping', index, 'role'], `differs from another rule of the account ${account}; name another account`);
      }
      if (shared === undefined) continue;
      const { owning, subject } = shared;
      const { sub = '' } = claims;
      const isOwned = sub.startsWith(subject) && namesOwner(sub.slice(subject.length));
      if (!isOwned && !owning.some((claim) => namesOwner(claims[claim]))) {
        const message = `must name the owner, because anybody has tokens of this issuer: one of ${owning.join(', ')}, or a sub with ${subject}, without * before the first /`;
        refuse(['mapping', index, 'claims'], message);
      }
    }
  })
  .transform((given): MachineProvider => ({
    kind: given.kind,
    id: given.id,
    issuer: given.issuer,
    audience: given.audience,
    jwksUri: given.jwks_uri,
    jwks: given.jwks,
    caFile: given.ca_file,
    clockToleranceSeconds: given.clock_tolerance_seconds,
    mapping: given.mapping,
  }));
