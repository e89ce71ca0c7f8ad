import { moment } from '@tollkeeper/contracts';
import { defineRoute, type Route } from '@tollkeeper/http';
import { z } from 'zod';
import type { MachineUseCases } from '../domain/oidc/machine.use-cases.ts';
import { accountSchema, slug, toAccountBody } from './schemas.ts';
import { originOf } from './session.cookies.ts';

/** Longer than tokens of GitHub, GitLab and Kubernetes, which have 1 to 3 KiB. */
const MAX_TOKEN_LENGTH = 16_384;

const machineSession = z
  .object({
    session: z.string().meta({
      description: 'The session: send it as the cookie `gw_session`, or give it to the client. A secret',
    }),
    expires_at: moment.meta({ description: 'When the session ends, used or not: within 15 minutes' }),
    user: accountSchema.shape.user,
    workspaces: accountSchema.shape.workspaces,
  })
  .meta({ id: 'MachineSession' });

/** Login of programs, which get their session in the answer. No cookie is set: browsers are to have none of it. */
export function createMachineRoutes(machines: MachineUseCases): Route[] {
  return [
    defineRoute({
      method: 'post',
      audit: 'session.create',
      path: '/api/v1/auth/oidc/{provider}:exchange',
      operationId: 'exchangeToken',
      tag: 'Single sign-on',
      summary: 'Log in as a service account',
      description:
        'Exchanges an OpenID Connect token of a runner, such as GitHub Actions, GitLab or Kubernetes, for a short session. Each token works once. The error says which check failed.',
      access: 'public',
      params: z.object({ provider: z.string().max(64).meta({ description: 'Id of a provider for machines' }) }),
      bodyLimitBytes: 2 * MAX_TOKEN_LENGTH,
      body: z.strictObject({
        id_token: z
          .string()
          .min(1, 'must not be empty')
          .max(MAX_TOKEN_LENGTH, `must be at most ${MAX_TOKEN_LENGTH} characters`)
          .meta({ description: 'The token, for the audience of the provider alone' }),
        workspace: slug.optional().meta({
          description: 'Slug of the workspace. Without it, the first rule that matches decides',
        }),
      }),
      responses: { 200: { description: 'Logged in', schema: machineSession } },
      handler: async ({ params, body, clientAddress, headers, cause }) => {
        const exchange = { idToken: body.id_token, workspace: body.workspace };
        const origin = originOf(clientAddress, headers);
        const { cookie, expiresAt, ...account } = await machines.exchange(params.provider, exchange, origin, cause);
        const body200 = { session: cookie, expires_at: expiresAt.toISOString(), ...toAccountBody(account) };
        return { status: 200, body: body200 };
      },
    }),
  ];
}
