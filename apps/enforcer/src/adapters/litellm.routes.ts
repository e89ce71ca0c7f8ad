import { agentOf, factTableOf } from '@tollkeeper/call-facts';
import { type Authenticator, bytesBody, defineRoute, type Route } from '@tollkeeper/http';
import type { Clock } from '@tollkeeper/kernel';
import type { VerifiedKey } from '@tollkeeper/workspace-keys';
import { z } from 'zod';
import { PROXY_ANSWER_MS, within } from '../domain/answer.time.ts';
import type { Reservations } from '../domain/enforcement.ts';
import type { CallPrices } from '../prices/call.prices.ts';
import { holdOf } from './call.hold.ts';
import { reserveBy } from './hook.settings.ts';
import { litellmCall, readGuardrail } from './litellm.call.ts';
import { requireHeld } from './proxy.answer.ts';
import { MAX_HOOK_BYTES, reasonOf, scanBody } from './scanned.body.ts';

/** LiteLLM adds the last two words to its `api_base`. */
const PATH = '/api/v1/adapters/litellm/beta/litellm_basic_guardrail_api';

const DESCRIPTION = `For the guardrail \`generic_guardrail_api\` of LiteLLM, in the mode \`pre_call\`. It reserves what the call
may cost, with \`call:\` and the id of the call as the \`request_id\`. The report of the call by LiteLLM's callback settles
it. The agent is the one of the header \`X-Tollkeeper-Agent\`, else the alias of LiteLLM's key.

The amount is the price of the longest answer and of the texts and tools, if a price of the model is known.
\`additional_provider_specific_params\` may have \`max_output_tokens\`, \`unpriced_micros\` and \`ttl_seconds\`. Prompts are
not read. The answer to \`input_type: response\` is \`NONE\`.`;

const answer = z.object({
  action: z.enum(['NONE', 'BLOCKED']),
  blocked_reason: z.string().optional().meta({ description: 'For the caller: which limit denied the call, and why' }),
});

export interface LitellmRouteDeps {
  reservations: Reservations;
  prices: CallPrices;
  access: Authenticator<VerifiedKey>;
  clock: Clock;
}

/** The route of LiteLLM's guardrail, which asks before each call. */
export function createLitellmRoute({ reservations, prices, access, clock }: LitellmRouteDeps): Route {
  /** Why the call is blocked; undefined if it may be made. */
  async function blockedBecause(
    key: VerifiedKey,
    body: Buffer,
    facts: { agent: string | undefined; signal: AbortSignal },
  ) {
    const table = factTableOf(key.reports);
    const read = await scanBody(body, (json) => readGuardrail(json, table), facts.signal);
    if (read === undefined) return undefined;
    const call = litellmCall(read, { table, agent: facts.agent, receivedMs: clock() });
    const { requestId, agentId, runId, planKey = null, model, provider = null, labels, inputBytes } = call;
    const { outputTokens: maxOutputTokens, unpricedMicros, ttlSeconds } = reserveBy(call.settings);
    const planned = { model, provider, maxOutputTokens, inputBytes, micros: unpricedMicros };
    const amountMicros = await holdOf(prices, key.tenantId, planned);
    const request = { requestId, agentId, runId, planKey, model, provider, labels, amountMicros, ttlSeconds };
    const decision = await reservations.reserve(key, request);
    if (decision.decision === 'denied') return decision.denial.message;
    requireHeld(decision, 'litellm_call_id');
    return undefined;
  }

  return defineRoute({
    method: 'post',
    audit: { unaudited: 'Gateways ask for their agents, with a key' },
    path: PATH,
    operationId: 'askForLitellmCall',
    tag: 'Adapters',
    summary: 'Ask before a call, for LiteLLM',
    description: DESCRIPTION,
    access,
    bodyLimitBytes: MAX_HOOK_BYTES,
    tooLargeHint: 'Calls with more than that cannot be reserved.',
    body: { 'application/json': bytesBody },
    readsBytes: true,
    responses: { 200: { description: 'Whether the call may be made', schema: answer } },
    handler: async ({ caller, headers, body, signal }) => {
      const asked = blockedBecause(caller, body, { agent: agentOf(headers), signal });
      const reason = await within(PROXY_ANSWER_MS, asked).catch(reasonOf);
      if (reason === undefined) return { status: 200, body: { action: 'NONE' as const } };
      return { status: 200, body: { action: 'BLOCKED' as const, blocked_reason: reason } };
    },
  });
}
