import { type BudgetsServiceDefinition, identifier, micros, moment, raiseBody } from '@tollkeeper/contracts';
import type { GrpcClient } from '@tollkeeper/grpc';
import { defineRoute, type Route } from '@tollkeeper/http';
import { z } from 'zod';
import { MAX_BODY_BYTES, type ReservationRouteDeps } from './reservation.routes.ts';
import { toMoment } from './schemas.ts';

/** A person at the gateway waits for it, not a call. */
const DEADLINE_MS = 5_000;

const REQUEST = `Asks the owners of the workspace to add \`extra_micros\` to the limit of a budget until a time, at most 31 days
from now. A denial names the \`budget_id\`, and the \`value\` if the budget has a limit for each. Nothing changes until an
owner approves it; then calls pass within two seconds.

The same \`request_id\` of a key answers the same request, as it is now; with other content it is 409
(\`request_id_reused\`). A key has at most 5 requests that are open or of the last hour: then 429. 404 without such a budget.`;

const requestBody = raiseBody
  .required({ request_id: true })
  .meta({ id: 'RaiseRequestInput', description: 'What owners are asked for' });
const requested = z
  .object({
    id: identifier.meta({ example: 'rai_4fG0aZ8kQ2mN6pR1tV5x' }),
    state: z.string().meta({
      description: '`requested`, or what became of it: `active`, `declined`, `ended` or `expired`',
      example: 'requested',
    }),
    extra_micros: micros.meta({ description: 'What was granted, or is asked for' }),
    until: moment,
  })
  .meta({ id: 'RaiseRequest' });

export interface RaiseRouteDeps {
  budgets: Pick<GrpcClient<BudgetsServiceDefinition>, 'requestRaise'>;
  access: ReservationRouteDeps['access'];
  /** Throws `rate_limited` if the key sends too many requests. */
  allow: (keyId: string) => void;
}

/** The one route by which the holder of a workspace key asks for more. It opens nothing else of budgets. */
export function createRaiseRoutes({ budgets, access, allow }: RaiseRouteDeps): Route[] {
  return [
    defineRoute({
      method: 'post',
      audit: { unaudited: 'Budgets records the request with its key' },
      path: '/api/v1/raise-requests',
      operationId: 'requestRaise',
      tag: 'Raises',
      summary: 'Ask for a raise of a limit with a workspace key',
      description: REQUEST,
      access: access.asking,
      bodyLimitBytes: MAX_BODY_BYTES,
      body: requestBody,
      responses: { 201: { description: 'The request', schema: requested } },
      handler: async ({ caller: { tenantId, keyId }, body, requestId }) => {
        allow(keyId);
        const { request_id, budget_id: budgetId, value, extra_micros, until, reason } = body;
        const asked = { tenantId, keyId, requestId: request_id, budgetId, extraMicros: extra_micros, reason };
        const answer = await budgets.requestRaise(
          { ...asked, ...(value !== undefined && { value }), until: Date.parse(until) },
          { requestId, deadlineMs: DEADLINE_MS },
        );
        const { raiseId: id, state, extraMicros: granted, until: end } = answer;
        return { status: 201, body: { id, state, extra_micros: granted, until: toMoment(end) } };
      },
    }),
  ];
}
