import { workspaceRole } from '@tollkeeper/contracts';
import { z } from 'zod';
import { isPlainLoopback } from '../loopback.ts';

/** Words that our own paths have in the place of a provider's id. */
const RESERVED_IDS = ['failures', 'links'];

/** Issuers of Entra ID that accept every tenant. */
const EVERY_TENANT = /^https:\/\/login\.microsoftonline\.com\/(common|organizations|consumers)(\/|$)/i;

export const text = (max: number) =>
  z.string().min(1, 'must not be empty').max(max, `must be at most ${max} characters`);

/** An address of a provider. */
export const providerUrl = z
  .url({ protocol: /^https?$/, error: 'must be an https:// address' })
  .max(500, 'must be at most 500 characters')
  .refine(
    (url) => url.startsWith('https:') || isPlainLoopback(url),
    'must be https; http is allowed only for loopback addresses',
  );

/** The settings that all kinds of providers have. */
export const providerFields = {
  id: z
    .string()
    .regex(/^[a-z0-9](?:-?[a-z0-9]){0,31}$/, 'must be 1 to 32 of a-z and 0-9, with single hyphens between them')
    .refine((id) => !RESERVED_IDS.includes(id), `must not be one of ${RESERVED_IDS.join(', ')}`),
  issuer: providerUrl
    .refine((url) => !/[?#@]/.test(url), 'must have no query, fragment or credentials')
    .refine((url) => !url.includes('/.well-known/'), 'must be the issuer, without /.well-known/…')
    .refine((url) => !EVERY_TENANT.test(url), 'is for every tenant; use the id of your tenant instead'),
  ca_file: text(1_000).optional(),
  clock_tolerance_seconds: z
    .int('must be a whole number')
    .min(0, 'must be from 0 to 300')
    .max(300, 'must be from 0 to 300')
    .default(30),
};

/** What a rule gives. */
export const roleFields = {
  workspace: z.string().regex(/^[a-z0-9](?:-?[a-z0-9]){1,39}$/, 'must be the slug of a workspace'),
  role: workspaceRole,
};
