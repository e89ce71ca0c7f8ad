import { ANY_TYPE, type Authenticator, bytesBody, defineRoute, type Route } from '@tollkeeper/http';
import type { Clock } from '@tollkeeper/kernel';
import type { VerifiedKey } from '@tollkeeper/workspace-keys';
import { z } from 'zod';
import { PROXY_ANSWER_MS, within } from '../domain/answer.time.ts';
import type { Reservations } from '../domain/enforcement.ts';
import type { CallPrices } from '../prices/call.prices.ts';
import { authorizeCall, MAX_BODY_BYTES } from './authz.call.ts';
import { deniedAnswer, RESERVATION_HEADER } from './proxy.answer.ts';

const DESCRIPTION = `For proxies that ask before they pass a request to a model: \`ext_authz\` of Envoy, \`auth_request\`
of nginx, \`forwardAuth\` of Traefik. Every method is the same, and so is every path below this one, since some proxies
append that of the request. It reserves what the call may cost, and the id of the reservation is in the header
\`x-tollkeeper-reservation\` of the answer. Settle it by a report of the call with this id, or with the \`x-request-id\`
as the id of the call.

The headers of the request say who calls: \`x-tollkeeper-agent\`, and optionally \`-run\`, \`-plan\`, \`-model\` and
\`-estimate-micros\`. Without an estimate, the amount is computed from \`model\` and \`max_tokens\` of the body, if the
proxy sends it and a price of the model is known.`;

const query = z.object({
  denied_status: z
    .enum(['403', '429'])
    .default('429')
    // Some proxies append the query of the request, which may have any.
    .catch('429')
    .meta({ description: 'The status of a denial: 403 for nginx, which turns any other than 401 and 403 into 500' }),
});
const denied = z.object({
  error: z.object({ message: z.string(), type: z.string(), param: z.null(), code: z.string() }),
});
const responses = {
  200: { description: 'The call may pass' },
  403: { description: 'A budget denies the call, and `denied_status` is 403', schema: denied },
  429: { description: 'A budget denies the call; `Retry-After` has the seconds until it resets', schema: denied },
} as const;

export interface AuthzRouteDeps {
  reservations: Reservations;
  prices: CallPrices;
  access: Authenticator<VerifiedKey>;
  clock: Clock;
}

/** The route of external authorization over HTTP. */
export function createAuthzRoutes({ access, clock, ...deps }: AuthzRouteDeps): Route[] {
  return [
    defineRoute({
      method: 'post',
      path: '/api/v1/adapters/authz',
      takesAnyRequest: true,
      operationId: 'authorizeCall',
      tag: 'Adapters',
      summary: 'Ask before a call, for proxies',
      description: DESCRIPTION,
      access,
      audit: { unaudited: 'Proxies ask for their agents, with a key' },
      query,
      bodyLimitBytes: MAX_BODY_BYTES,
      tooLargeHint: 'Let the proxy send at most 64 KiB of it.',
      body: { [ANY_TYPE]: bytesBody },
      readsBytes: true,
      responses,
      async handler({ caller, headers, requestId: callId, body, query: { denied_status } }) {
        const passed = { headers, body, callId };
        const decision = await within(PROXY_ANSWER_MS, authorizeCall(deps, caller, passed));
        if (decision.decision === 'allowed') {
          const { reservation } = decision;
          const ofIt: Record<string, string> = reservation === null ? {} : { [RESERVATION_HEADER]: reservation.id };
          return { status: 200, headers: ofIt };
        }
        const denial = deniedAnswer(decision.denial, 'openai', clock());
        return {
          status: denied_status === '403' ? 403 : 429,
          // nginx can show a header of this answer, but not its body.
          headers: { ...denial.headers, 'x-tollkeeper-denial': insideJson(decision.denial.message) },
          body: JSON.parse(denial.body) as z.output<typeof denied>,
        };
      },
    }),
  ];
}

/** The text as it is between the quotes of a string in JSON, in ASCII, so that it can be in a header. */
function insideJson(text: string): string {
  const escaped = JSON.stringify(text).slice(1, -1);
  return escaped.replaceAll(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
