import { readFileSync } from 'node:fs';
import { hasSender, mailFields } from '@tollkeeper/mail';
import {
  flagField,
  grpcServiceFields,
  httpOriginField,
  httpServiceFields,
  listField,
  mongodbFields,
  secret,
  serviceConfig,
} from '@tollkeeper/runtime';
import { z } from 'zod';
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from './domain/password.hasher.ts';
import { forPeople, oidcProviders } from './domain/oidc/provider.ts';
import { PASSWORD_LOGINS } from './domain/password.policy.ts';
import { email, login, newPassword, slug } from './http/schemas.ts';

/** Each provider with the PEM certificates from its file. */
const providersWithCertificates = oidcProviders.transform((providers, context) =>
  providers.map((provider, index) => ({ ...provider, ca: readCertificates(provider.caFile, index, context) })),
);

function readCertificates(file: string | undefined, index: number, context: z.RefinementCtx): string | undefined {
  if (file === undefined) return undefined;
  try {
    const text = readFileSync(file, 'utf8');
    if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
    context.addIssue({ code: 'custom', message: `[${index}].ca_file names a file without a PEM certificate` });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    context.addIssue({ code: 'custom', message: `[${index}].ca_file names a file that cannot be read (${code})` });
  }
  return undefined;
}

/** Environment of the identity service. */
export const identityConfig = serviceConfig
  .extend({
    ...httpServiceFields,
    ...grpcServiceFields,
    ...mongodbFields('tollkeeper_identity'),
    PUBLIC_URL: httpOriginField().describe(
      'origin at which browsers reach the gateway, such as https://tollkeeper.example.com; session cookies are Secure unless it is http on a loopback host',
    ),
    FIRST_OWNER_EMAIL: secret(
      email
        .optional()
        .describe('e-mail of the owner to create at the start if there are no users; default none is created'),
    ),
    FIRST_OWNER_PASSWORD: secret(
      newPassword
        .optional()
        .describe(
          `password of the owner in FIRST_OWNER_EMAIL, ${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} characters; set both or neither`,
        ),
    ),
    FIRST_WORKSPACE_SLUG: slug
      .default('default')
      .describe('slug of the workspace to create with the first owner; default default'),
    OIDC_PROVIDERS: secret(
      providersWithCertificates
        .prefault('[]')
        .describe(
          'JSON list of OpenID Connect providers, at most 5 for people (docs/sso.md) and 5 for machines (docs/machine-login.md); default none',
        ),
    ),
    OIDC_TRUSTED_DOMAINS: listField()
      .transform((domains) => domains.map((domain) => domain.toLowerCase()))
      .refine((domains) => domains.every(isDomain), 'must be domains such as example.com, separated by commas')
      .prefault('')
      .describe(
        'e-mail domains for which every provider is trusted even without email_verified, separated by commas; default none',
      ),
    OIDC_SIGN_UP: flagField()
      .prefault('false')
      .describe('true to create an account for people who log in with a provider and have none; default false'),
    OIDC_STRICT: flagField()
      .prefault('false')
      .describe('true to refuse people whose provider mapping gives them no workspace; default false'),
    PASSWORD_LOGIN: z
      .enum(PASSWORD_LOGINS, `must be one of ${PASSWORD_LOGINS.join(', ')}`)
      .default('all')
      .describe(
        'who may log in with a password: all, owners (of a workspace), or none except PASSWORD_LOGIN_BREAK_GLASS; default all',
      ),
    PASSWORD_LOGIN_BREAK_GLASS: login
      .optional()
      .describe(
        'login name of the owner who may log in with a password when PASSWORD_LOGIN is none, in case no provider answers; default FIRST_OWNER_EMAIL',
      ),
    ...mailFields,
  })
  .refine(({ PASSWORD_LOGIN, OIDC_PROVIDERS }) => PASSWORD_LOGIN === 'all' || OIDC_PROVIDERS.some(forPeople), {
    path: ['OIDC_PROVIDERS'],
    message: 'must have a provider unless PASSWORD_LOGIN is all; otherwise nobody could log in',
  })
  .refine(hasSender, { path: ['MAIL_FROM'] })
  .refine(
    ({ PASSWORD_LOGIN, PASSWORD_LOGIN_BREAK_GLASS, FIRST_OWNER_EMAIL }) =>
      PASSWORD_LOGIN !== 'none' || (PASSWORD_LOGIN_BREAK_GLASS ?? FIRST_OWNER_EMAIL) !== undefined,
    { path: ['PASSWORD_LOGIN_BREAK_GLASS'] },
  )
  .refine(
    ({ FIRST_OWNER_EMAIL, FIRST_OWNER_PASSWORD }) =>
      FIRST_OWNER_EMAIL === undefined || FIRST_OWNER_PASSWORD !== undefined,
    {
      path: ['FIRST_OWNER_PASSWORD'],
    },
  )
  .refine(
    ({ FIRST_OWNER_EMAIL, FIRST_OWNER_PASSWORD }) =>
      FIRST_OWNER_PASSWORD === undefined || FIRST_OWNER_EMAIL !== undefined,
    {
      path: ['FIRST_OWNER_EMAIL'],
    },
  );
export type IdentityConfig = z.infer<typeof identityConfig>;

function isDomain(text: string): boolean {
  return /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$/.test(text) && text.length <= 253;
}
