import { micros, moment, REPORT_OUTCOMES, REPORT_PRICED_BY } from '@tollkeeper/contracts';
import { defineRoute, type Route } from '@tollkeeper/http';
import { z } from 'zod';
import { MAX_REPORTS, type Report, type ReportedCall, type ReportUseCases } from '../domain/report.ts';

const DESCRIPTION = `The last ${MAX_REPORTS} reports by OTLP, LiteLLM's callback or Envoy's access log over gRPC as Tollkeeper understood
them, newest first, for people who connect a gateway. Events, and what gateways ask before a call, are not among them.
Reports are kept only while somebody asks: from at most 5 seconds after the first request on until a minute after the
last one. Each replica of ingest and of the enforcer sends at most 20 at once and then two a second, so in a busy
workspace they are a sample. They never have prompts or answers.`;

const outcome = z.enum(REPORT_OUTCOMES).meta({
  description:
    '`settled`: it counts with its amount, unless an earlier report of the call counts. `unpriced`: it counts as 0 USD, because it has tokens, but neither a cost ' +
    'nor a known price. `no_usage`, `client_gone`: it has neither tokens nor a cost. `failed`: it failed, and cost nothing',
});
const reportedCall = z
  .object({
    outcome,
    agent_id: z.string(),
    amount_micros: micros.nullable().meta({ description: 'Null if no cost and no price is known' }),
    priced_by: z.enum(REPORT_PRICED_BY).nullable().meta({
      description:
        'Who said what the call cost: the sender, a price of the workspace (`override`), or the table of prices',
    }),
    facts: z.array(
      z.object({
        fact: z.string().meta({ description: 'What was read', example: 'input_tokens' }),
        name: z.string().meta({ description: 'Where it was read', example: 'gen_ai.usage.input_tokens' }),
        value: z.string().meta({ description: 'At most 128 characters', example: '1200' }),
      }),
    ),
  })
  .meta({ id: 'ReportedCall' });
const intakeReport = z
  .object({
    id: z.string(),
    received_at: moment,
    key_id: z.string().meta({ description: 'The workspace key that it came with' }),
    path: z.string().meta({ description: 'That of HTTP, or of the method of gRPC', example: '/v1/traces' }),
    records: z.int().meta({ description: 'Number of spans, log entries or objects' }),
    calls: z.int().meta({ description: 'Number of these that are calls' }),
    first_calls: z.array(reportedCall).meta({ description: 'The first two calls' }),
    not_calls: z
      .array(z.object({ reason: z.string(), records: z.int() }))
      .meta({ description: 'Why the other records are no calls' }),
    refusal: z.string().nullable().meta({ description: 'Why nothing was taken; null if it was taken' }),
  })
  .meta({ id: 'IntakeReport' });

/** What arrives, for all members of a workspace. */
export function createReportRoutes(useCases: ReportUseCases): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/api/v1/intake-reports',
      operationId: 'listIntakeReports',
      tag: 'Events',
      summary: 'List the last reports, as they were understood',
      description: DESCRIPTION,
      access: 'member',
      responses: { 200: { description: 'The reports', schema: z.object({ items: z.array(intakeReport) }) } },
      handler: async ({ caller }) => ({
        status: 200,
        body: { items: (await useCases.watch(caller.tenantId)).map(toReportBody) },
      }),
    }),
  ];
}

function toReportBody(report: Report): z.infer<typeof intakeReport> {
  const { id, receivedMs, keyId, path, records, calls, firstCalls, notCalls, refusal } = report;
  return {
    id,
    received_at: new Date(receivedMs).toISOString(),
    key_id: keyId,
    path,
    records,
    calls,
    first_calls: firstCalls.map(toCallBody),
    not_calls: [...notCalls],
    refusal: refusal === '' ? null : refusal,
  };
}

function toCallBody(call: ReportedCall): z.infer<typeof reportedCall> {
  return {
    outcome: call.outcome,
    agent_id: call.agentId,
    amount_micros: call.amountMicros ?? null,
    priced_by: call.pricedBy === '' ? null : call.pricedBy,
    facts: [...call.facts],
  };
}
