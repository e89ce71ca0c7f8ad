import {
  grpcServiceFields,
  httpOriginField,
  httpServiceFields,
  mongodbFields,
  secret,
  serviceConfig,
} from '@tollkeeper/runtime';
import { z } from 'zod';
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from './domain/password.hasher.ts';
import { smtpUrl } from './delivery/smtp.url.ts';
import { email, newPassword, slug } from './http/schemas.ts';

/** Environment of the identity service. */
export const identityConfig = serviceConfig
  .extend({
    ...httpServiceFields,
    ...grpcServiceFields,
    ...mongodbFields('tollkeeper_identity'),
    PUBLIC_URL: httpOriginField().describe(
      'where browsers reach the gateway, e.g. https://tollkeeper.example.com; session cookies are Secure unless it is http on a loopback host',
    ),
    FIRST_OWNER_EMAIL: email
      .optional()
      .describe('e-mail of the owner that is made at the start while there is no user at all; default nobody is made'),
    FIRST_OWNER_PASSWORD: secret(
      newPassword
        .optional()
        .describe(
          `password of that owner, ${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} characters; set it together with FIRST_OWNER_EMAIL`,
        ),
    ),
    FIRST_WORKSPACE_SLUG: slug
      .default('default')
      .describe('slug of the workspace that is made with the first owner; default default'),
    SMTP_URL: secret(
      smtpUrl
        .optional()
        .describe(
          'mail server for invitations and forgotten passwords, as smtps://user:password@host:465, or smtp://user:password@host:587, which has to offer STARTTLS; ?tls=none after smtp:// sends without encryption; default no mail is sent',
        ),
    ),
    MAIL_FROM: z
      .email('must be an e-mail address')
      .optional()
      .describe('sender of the mails, such as tollkeeper@example.com; needed with SMTP_URL'),
  })
  .refine(({ SMTP_URL, MAIL_FROM }) => SMTP_URL === undefined || MAIL_FROM !== undefined, { path: ['MAIL_FROM'] })
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
