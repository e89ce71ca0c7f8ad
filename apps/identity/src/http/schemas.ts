import { displayName, timezone, trackedLabels, workspaceRole } from '@tollkeeper/contracts';
import { z } from 'zod';
import { isCommonPassword } from './common-passwords.ts';
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '../domain/password.hasher.ts';
import type { Account } from '../domain/account.ts';
import type { User } from '../domain/user.ts';
import type { WorkspaceOfUser } from '../domain/workspace.ts';

type UserFields = Pick<User, 'loginName' | 'email' | 'emailVerified' | 'name'>;

/** Longest address of an e-mail (RFC 5321). */
const MAX_EMAIL_LENGTH = 254;

export const email = z
  .email('must be an e-mail address')
  .max(MAX_EMAIL_LENGTH, `must be at most ${MAX_EMAIL_LENGTH} characters`)
  .toLowerCase()
  .meta({ description: 'E-mail address; upper and lower case are the same', example: 'owner@example.com' });

/** The name to log in with, as people type it. */
export const login = z
  .string()
  .trim()
  .toLowerCase()
  .max(MAX_EMAIL_LENGTH, `must be at most ${MAX_EMAIL_LENGTH} characters`)
  .meta({
    description: 'Login name or verified e-mail; upper and lower case are the same',
    example: 'owner@example.com',
  });

/** Fields that show people who a user is. */
export const userFields = {
  login_name: z.string().meta({ description: 'Login name of the user' }),
  email: z.string().meta({ description: 'E-mail of the user; empty if unknown' }),
  email_verified: z.boolean().meta({ description: 'Whether the user has verified the e-mail' }),
  name: z.string(),
};

export function toUserBody({ loginName, email: address, emailVerified, name }: UserFields) {
  return { login_name: loginName, email: address ?? '', email_verified: emailVerified, name };
}

/** A password as people type it. Rules for new passwords are checked elsewhere. */
export const password = z
  .string()
  .min(1, 'must not be empty')
  .max(MAX_PASSWORD_LENGTH, `must be at most ${MAX_PASSWORD_LENGTH} characters`)
  .meta({ format: 'password' });

export const newPassword = password
  .min(MIN_PASSWORD_LENGTH, `must be at least ${MIN_PASSWORD_LENGTH} characters`)
  .refine(
    (chosen) => chosen.length < MIN_PASSWORD_LENGTH || !isCommonPassword(chosen),
    'is one of the most common passwords; choose another',
  );

/** A login name that a person chooses. It is not an e-mail, so a taken one reveals no e-mail. */
export const loginName = z
  .string()
  .toLowerCase()
  .regex(
    /^[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])$/,
    'must be 2 to 64 of a-z, 0-9 and . _ - with a letter or digit at both ends',
  )
  .meta({ description: 'Login name; default a free one derived from the e-mail', example: 'ada' });

export const slug = z
  .string()
  .regex(/^[a-z0-9](?:-?[a-z0-9]){1,39}$/, 'must be 2 to 40 of a-z and 0-9, with single hyphens between them')
  .meta({ description: 'Identifies the workspace in URLs; never changes', example: 'research' });

export const workspaceSchema = z
  .object({
    id: z.string(),
    slug: z.string(),
    name: z.string(),
    role: workspaceRole,
    timezone: z.string(),
    tracked_labels: trackedLabels,
  })
  .meta({ id: 'Workspace', description: 'A workspace, with the role of the caller' });

export const accountSchema = z
  .object({
    user: z.object({ id: z.string(), ...userFields }),
    workspaces: z.array(workspaceSchema),
  })
  .meta({ id: 'Account', description: 'A user and their workspaces, sorted by slug' });

export function toAccountBody({ user, workspaces }: Account): z.infer<typeof accountSchema> {
  return {
    user: { id: user.id, ...toUserBody(user) },
    workspaces: workspaces.map(toWorkspaceBody),
  };
}

export const workspaceFields = { name: displayName, timezone };

export function toWorkspaceBody({ workspace, role }: WorkspaceOfUser): z.infer<typeof workspaceSchema> {
  const { id, slug: key, name, timezone: zone, trackedLabels: tracked } = workspace;
  return { id, slug: key, name, role, timezone: zone, tracked_labels: [...tracked] };
}
