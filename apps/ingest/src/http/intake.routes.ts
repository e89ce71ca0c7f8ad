import { agentOf } from '@tollkeeper/call-facts';
import { INTAKE_PATHS, type IntakePath } from '@tollkeeper/contracts';
import { type Authenticator, bytesBody, defineRoute, partsBody, type RequestFacts, type Route } from '@tollkeeper/http';
import type { VerifiedKey, WorkspaceQuota } from '@tollkeeper/workspace-keys';
import { z } from 'zod';
import type { CallIntake } from '../intake/call.intake.ts';
import { type Encoding, MAX_OTLP_RATIO } from '../intake/decode.ts';
import { jsonAnswer, type OtlpSignal, protobufAnswer } from '../intake/otlp-answer.ts';
import type { Signal } from '../intake/otlp-protobuf.ts';
import { createTotal, MAX_ERRORS } from './litellm.answer.ts';
import { cutAtLines } from '../intake/litellm-callback.ts';
import { createReporterErrors } from '../intake/reporter.errors.ts';

const MIB = 1024 * 1024;
/** 512 calls, LiteLLM's batch, have 6.8 MB without prompts. */
const LITELLM_PARTS = { partBytes: 4 * MIB, maxPartBytes: 32 * MIB, createCut: cutAtLines };
/**
 * A call has 12 to 14 kB without its prompts, mostly LiteLLM's map of prices, and its event about a tenth of that. So
 * bytes cost a tenth of the quota: it protects the log, and a proxy of 100 calls a second would be over it otherwise.
 * The memory for bodies counts all bytes.
 */
const LITELLM_BYTES_COST = 0.1;
const PROTOBUF = 'application/x-protobuf';
const UNAUDITED = { unaudited: 'Gateways report what has happened, with a key' };

const DESCRIPTION = `Takes OTLP as protobuf or JSON, also with \`Content-Encoding: gzip\`, at most 20 MiB after decompression,
which may make a body at most 200 times as large. The workspace is the one of the key, in \`Authorization: Bearer KEY\`,
\`Authorization: Basic base64(ANY:KEY)\` or \`X-Api-Key: KEY\`. The header \`X-Tollkeeper-Agent\` names the agent of all
calls in the body.

Records that are calls of models count as spend, with the cost that they have, else with the price of their tokens. A
call is known by the response id of its provider, so it counts once, however many senders report it. A call without
tokens and cost is a \`call.unmetered\` event. A model without a price is one \`price.missing\` event a day, and its
calls count as 0 USD. Prompts and answers are never read.

After 429, 503 or no answer, send the same body again. Errors of protobuf requests are a \`google.rpc.Status\`.
\`partialSuccess\` has warnings, for example about calls without a price.`;

export interface IntakeRouteDeps {
  intake: CallIntake<VerifiedKey>;
  /** Also checks the quotas. */
  authenticator: Authenticator<VerifiedKey>;
  quotas: { bytes: WorkspaceQuota };
}

interface EncodedBody {
  encoding: Encoding;
  bytes: Buffer;
}

interface SignalRoute {
  operationId: string;
  summary: string;
  description: string;
  /** Undefined if the records are no calls: metrics are sums without identities, so they could count twice. */
  records: Signal | undefined;
}

const METRICS_DESCRIPTION = `Takes OTLP metrics, so that exporters do not fail, and counts nothing by them: they are sums without the ids of
calls. Report calls by traces or logs.`;

const SIGNALS: Record<OtlpSignal, SignalRoute> = {
  traces: {
    operationId: 'exportTraces',
    summary: 'Report calls by OTLP traces',
    description: DESCRIPTION,
    records: 'span',
  },
  logs: {
    operationId: 'exportLogs',
    summary: 'Report calls by OTLP logs',
    description: DESCRIPTION,
    records: 'log',
  },
  metrics: {
    operationId: 'exportMetrics',
    summary: 'Accept OTLP metrics, which count nothing',
    description: METRICS_DESCRIPTION,
    records: undefined,
  },
};

/** Reports of calls by the telemetry of gateways and agents. */
export function createIntakeRoutes(deps: IntakeRouteDeps): Route[] {
  return [otlpRoute('traces', deps), otlpRoute('logs', deps), otlpRoute('metrics', deps), litellmRoute(deps)];
}

function placeOf({ path, otherPaths, maxBytes, tooLargeHint }: IntakePath) {
  return { path, otherPaths, bodyLimitBytes: maxBytes, tooLargeHint };
}

function otlpRoute(signal: OtlpSignal, { intake, authenticator, quotas }: IntakeRouteDeps): Route {
  const { records, ...route } = SIGNALS[signal];
  const errors = createReporterErrors({ overQuota: 'rate_limited' });
  const { path } = INTAKE_PATHS[signal];
  const noticesOf = async (
    caller: VerifiedKey,
    body: EncodedBody,
    { headers, accessMs }: { headers: RequestFacts['headers']; accessMs: number },
  ) => {
    if (records === undefined) {
      intake.dropMetrics(caller, { path });
      return [];
    }
    const agent = agentOf(headers);
    const { notices } = await errors.answer(accessMs, (signal) =>
      intake.takeOtlp(caller, { ...body, signal: records }, { path, agent, signal }),
    );
    return notices;
  };
  const bodyOf = (encoding: Encoding) => bytesBody.transform((bytes) => ({ encoding, bytes }));
  return defineRoute({
    ...route,
    ...placeOf(INTAKE_PATHS[signal]),
    method: 'post',
    audit: UNAUDITED,
    tag: 'Events',
    access: errors.access(authenticator),
    readsBytes: true,
    body: { [PROTOBUF]: bodyOf('protobuf'), 'application/json': bodyOf('json') },
    bodyRatioLimit: MAX_OTLP_RATIO,
    chargeBytes: ({ tenantId }, bytes) => quotas.bytes.charge(tenantId, bytes),
    responses: {
      200: {
        description: 'The calls are stored durably. The answer has the encoding of the request',
        schema: z.object({
          partialSuccess: z
            .object({ errorMessage: z.string() })
            .meta({ description: 'A warning about calls that were taken otherwise than the sender may expect' })
            .optional(),
        }),
        bytes: PROTOBUF,
      },
    },
    handler: async ({ caller, body: { encoding, bytes }, ...request }) => {
      const notices = await noticesOf(caller, { encoding, bytes }, request);
      switch (encoding) {
        case 'protobuf':
          return { status: 200, headers: { 'content-type': PROTOBUF }, bytes: protobufAnswer(notices) };
        case 'json':
          return { status: 200, body: jsonAnswer(notices) };
      }
    },
  });
}

const { path: LITELLM_PATH } = INTAKE_PATHS.litellm;
const LITELLM_DESCRIPTION = `Takes what LiteLLM's \`generic_api\` callback sends: a JSON array or one object of at most 32 MiB, or an object a line, at most 128 MiB. The key and the agent are
sent as for OTLP. Objects that cannot be read are listed, and the others are taken. A body of lines is taken part by
part, so some of its calls may be stored though the answer is an error: send the same body again.

LiteLLM sends a batch again only after an answer of 5xx, so over a quota the answer is 503 with \`Retry-After\`.`;

function litellmRoute({ intake, authenticator, quotas }: IntakeRouteDeps): Route {
  const errors = createReporterErrors({ overQuota: 'service_unavailable' });
  return defineRoute({
    method: 'post',
    audit: UNAUDITED,
    ...placeOf(INTAKE_PATHS.litellm),
    operationId: 'reportLitellmCalls',
    tag: 'Events',
    summary: "Report calls by LiteLLM's callback",
    description: LITELLM_DESCRIPTION,
    access: errors.access(authenticator),
    parts: LITELLM_PARTS,
    body: { 'application/json': partsBody },
    bodyRatioLimit: MAX_OTLP_RATIO,
    responses: {
      200: {
        description: 'The calls are stored durably',
        schema: z.object({
          accepted: z.int().meta({ description: 'Number of calls that are stored as events' }),
          dropped: z.int().meta({ description: 'Number of objects that cannot be read' }),
          notices: z
            .array(z.string())
            .meta({ description: 'Sentences about calls that were taken otherwise than the sender may expect' }),
          errors: z
            .array(z.object({ index: z.int(), message: z.string() }))
            .meta({ description: `The first ${MAX_ERRORS} objects that cannot be read, by their position` }),
        }),
      },
    },
    handler: async ({ caller, body, headers, accessMs }) => {
      const taken = createTotal();
      for await (const bytes of body) {
        const { tenantId } = caller;
        const before = taken.objects();
        const cost = Math.ceil(bytes.length * LITELLM_BYTES_COST);
        if (before === 0) errors.answerNow(() => quotas.bytes.charge(tenantId, cost));
        else quotas.bytes.owe(tenantId, cost);
        const options = { path: LITELLM_PATH, agent: agentOf(headers), before };
        const spentMs = before === 0 ? accessMs : 0;
        taken.add(await errors.answer(spentMs, (signal) => intake.takeLitellm(caller, bytes, { ...options, signal })));
      }
      return { status: 200, body: taken.answer() };
    },
  });
}
