import { agentOf } from '@tollkeeper/call-facts';
import { type Authenticator, bytesBody, defineRoute, type RequestFacts, type Route } from '@tollkeeper/http';
import type { VerifiedKey } from '@tollkeeper/workspace-keys';
import { z } from 'zod';
import { PROXY_ANSWER_MS, within } from '../domain/answer.time.ts';
import type { Reservations } from '../domain/enforcement.ts';
import type { CallPrices } from '../prices/call.prices.ts';
import type { EndCall } from './call.end.ts';
import { holdOf } from './call.hold.ts';
import { type HookSettings, hookSettings, reserveBy } from './hook.settings.ts';
import { type PortkeyCall, portkeyCall, readHook } from './portkey.call.ts';
import { requireHeld } from './proxy.answer.ts';
import { MAX_HOOK_BYTES, reasonOf, scanBody } from './scanned.body.ts';

const PATH = '/api/v1/adapters/portkey';

const NAMED_BY = `Callers name the call in \`x-portkey-metadata\`: \`call\` is the id of the call, and unique for each.
Optional are \`agent\`, \`run\`, \`plan\` and \`_user\`. The header \`X-Tollkeeper-Agent\` of the webhook names the agent
of all calls.`;
const BEFORE = `For the check \`default.webhook\` of the Portkey gateway in \`before_request_hooks\`. It reserves what the call
may cost: the price of its longest answer and of its request, if a price of the model is known. Prompts are not read.

${NAMED_BY} A call without an id is denied, because the gateway gives both hooks no id of their own.`;
const AFTER = `For the check \`default.webhook\` of the Portkey gateway in \`after_request_hooks\`. It settles the price of the
tokens that the call used. If the answer has no usage, such as a stream, the call costs what was reserved. If it failed,
the reservation is released. The answer is always \`verdict: true\`.

${NAMED_BY}`;

/** From this status on, the model has not answered. */
const FIRST_ERROR = 400;

const answer = z.object({
  verdict: z.boolean().meta({ description: 'Whether the call may be made' }),
  data: z.object({ reason: z.string() }).optional().meta({ description: 'Why not, for the caller' }),
});

export interface PortkeyRouteDeps {
  reservations: Reservations;
  endCall: EndCall;
  prices: CallPrices;
  access: Record<'asking' | 'ending', Authenticator<VerifiedKey>>;
}

const UNNAMED =
  'Tollkeeper cannot reserve this call, because it has no id. Send "call" in x-portkey-metadata, with a new id for ' +
  'each call.';

/** The routes of Portkey's webhooks before and after each call. */
export function createPortkeyRoutes({ reservations, endCall, prices, access }: PortkeyRouteDeps): Route[] {
  /** Why the call may not be made; undefined if it may. */
  async function deniedBecause(key: VerifiedKey, call: PortkeyCall, settings: HookSettings) {
    const { requestId, agentId, runId, planKey, model, provider, labels, inputBytes } = call;
    if (requestId === undefined) return UNNAMED;
    const { outputTokens, unpricedMicros, ttlSeconds } = reserveBy(settings);
    const maxOutputTokens = call.outputTokens ?? outputTokens;
    const planned = { model, provider, maxOutputTokens, inputBytes, micros: unpricedMicros };
    const amountMicros = await holdOf(prices, key.tenantId, planned);
    const request = { requestId, agentId, runId, planKey, model, provider, labels, amountMicros, ttlSeconds };
    const decision = await reservations.reserve(key, request);
    if (decision.decision === 'denied') return decision.denial.message;
    requireHeld(decision, 'metadata.call');
    return undefined;
  }

  async function end(key: VerifiedKey, call: PortkeyCall): Promise<undefined> {
    const { requestId, agentId, runId, planKey, model, provider, labels, responseId, usage, status = 0 } = call;
    // It was denied before.
    if (requestId === undefined) return;
    const reported = { requestId, agentId, runId, planKey, model, provider, labels, responseId, usage };
    await endCall(key, { ...reported, isAnswered: status < FIRST_ERROR });
  }

  const common = {
    method: 'post',
    tag: 'Adapters',
    query: hookSettings,
    bodyLimitBytes: MAX_HOOK_BYTES,
    tooLargeHint: 'Calls with more than that cannot be reserved.',
    body: { 'application/json': bytesBody },
    readsBytes: true,
    responses: { 200: { description: 'Whether the call may go on', schema: answer } },
  } as const;
  const readCall = async (body: Buffer, { headers, signal }: Pick<RequestFacts, 'headers'> & { signal: AbortSignal }) =>
    portkeyCall(await scanBody(body, readHook, signal), agentOf(headers));
  return [
    defineRoute({
      ...common,
      audit: { unaudited: 'Gateways ask for their agents, with a key' },
      path: `${PATH}/before`,
      operationId: 'askForPortkeyCall',
      summary: 'Ask before a call, for Portkey',
      description: BEFORE,
      access: access.asking,
      handler: async ({ caller, body, query, ...request }) => {
        const work = async () => deniedBecause(caller, await readCall(body, request), query);
        const reason = await within(PROXY_ANSWER_MS, work()).catch(reasonOf);
        return { status: 200, body: reason === undefined ? { verdict: true } : { verdict: false, data: { reason } } };
      },
    }),
    defineRoute({
      ...common,
      audit: { unaudited: 'Gateways report what has happened, with a key' },
      path: `${PATH}/after`,
      operationId: 'settlePortkeyCall',
      summary: 'Settle a call, for Portkey',
      description: AFTER,
      access: access.ending,
      handler: async ({ caller, body, ...request }) => {
        await end(caller, await readCall(body, request));
        return { status: 200, body: { verdict: true } };
      },
    }),
  ];
}
