import { alertSchema, moment, RULE_KINDS } from '@tollkeeper/contracts';
import { defineRoute, mergePatch, mergePatchBodies, parseMerged, type Route } from '@tollkeeper/http';
import { z } from 'zod';
import { toBurn, toDeviation, toForecast, toSpend, toTimestamp, toTimestampOrNull } from '../domain/alert.record.ts';
import type { Evaluation } from '../domain/evaluation.ts';
import type { RuleDraft } from '../domain/rule.ts';
import { thresholdsOf } from '../domain/rule-kinds.ts';
import type { RuleUseCases } from '../domain/rule.use-cases.ts';
import { fromDraft, ruleBody, rulePatch, ruleRecord, toDraft, toRuleRecord } from './rule.schemas.ts';
import { ALERTS_PATH, ruleParams } from './schemas.ts';

const PATH = `${ALERTS_PATH}/rules`;
const TAG = 'Alert rules';

const evaluation = z
  .object({
    outcome: z.enum(['fired', 'suppressed']),
    reason: z
      .enum(['condition_became_true', 'condition_still_true_after_cooldown', 'cooldown', 'rate_limited', 'learning'])
      .meta({
        description:
          'Why the rule fired or was suppressed. `cooldown`: its last alert is too recent. `rate_limited`: it created 60 alerts in the minute of `event_time`. `learning`: too little is known of the past, see `deviation.weeks`',
      }),
    count: z.int().meta({
      description:
        'Number of events; 1 if the rule fired. All events suppressed for the same reason in one minute of event time are one decision',
    }),
    alert_id: z.string().nullable().meta({ description: 'The alert that the rule created; null if suppressed' }),
    event_id: z.string().meta({ description: 'Id of the event of the decision, or of its last event' }),
    event_time: moment,
    window: z.object({ start: moment, end: moment }),
    rule_kind: z.enum(RULE_KINDS).meta({ description: 'Kind of the rule at the time of the decision' }),
    event_count: z.int(),
    threshold: z.int(),
    spend: alertSchema.shape.spend,
    deviation: alertSchema.shape.deviation,
    burn: alertSchema.shape.burn,
    forecast: alertSchema.shape.forecast,
    cooldown_until: moment.nullable().meta({ description: 'End of the suppressing cooldown, in event time' }),
    evaluated_at: moment,
  })
  .meta({ id: 'AlertRuleEvaluation' });

/** Alert rules, for admins. */
export function createRuleRoutes(rules: RuleUseCases): Route[] {
  return [...routesOfAll(rules), ...routesOfOne(rules)];
}

function routesOfAll(rules: RuleUseCases): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: PATH,
      operationId: 'listAlertRules',
      tag: TAG,
      summary: 'List the rules of the workspace',
      access: 'admin',
      responses: {
        200: { description: 'The rules, oldest first', schema: z.object({ items: z.array(ruleRecord) }) },
      },
      handler: async ({ caller }) => {
        const items = (await rules.list(caller.tenantId)).map(toRuleRecord);
        return { status: 200, body: { items } };
      },
    }),
    defineRoute({
      method: 'post',
      audit: 'rule.create',
      path: PATH,
      operationId: 'createAlertRule',
      tag: TAG,
      summary: 'Create a rule',
      description:
        'The rule counts events that are accepted after its creation. A workspace has at most 1000 rules. The ' +
        'windows of its enabled rules take at most 80 MB of memory (16 bytes for each event of a threshold, at most ' +
        '128000 for a `spend_gte`, 410000 for a `deviation_gte` and 390000 for a `forecast_gte`), and their channels ' +
        'add up to at most 5000. A rule makes at most 60 alerts in a ' +
        'minute of event time. The other events of that minute are one suppressed decision, `rate_limited`, with ' +
        'their number. A `deviation_gte` compares an hour of an agent with the same hour of the last four weeks, and ' +
        'needs one of them first.',
      access: 'admin',
      body: ruleBody,
      responses: { 201: { description: 'The new rule', schema: ruleRecord } },
      handler: async ({ caller, body, cause }) => {
        const rule = await rules.create(caller.tenantId, toDraft(body), cause);
        return { status: 201, body: toRuleRecord(rule) };
      },
    }),
  ];
}

function routesOfOne(rules: RuleUseCases): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: `${PATH}/{rule_id}`,
      operationId: 'getAlertRule',
      tag: TAG,
      summary: 'Read a rule',
      access: 'admin',
      params: ruleParams,
      responses: { 200: { description: 'The rule', schema: ruleRecord } },
      handler: async ({ caller, params }) => {
        const rule = await rules.get(caller.tenantId, params.rule_id);
        return { status: 200, body: toRuleRecord(rule) };
      },
    }),
    defineRoute({
      method: 'patch',
      audit: 'rule.update',
      path: `${PATH}/{rule_id}`,
      operationId: 'editAlertRule',
      tag: TAG,
      summary: 'Change a rule',
      description:
        'A rule starts with an empty window if it is enabled again or if its kind, window, threshold, filters or scope change. ' +
        'Existing alerts do not change.',
      access: 'admin',
      params: ruleParams,
      body: mergePatchBodies(rulePatch),
      responses: { 200: { description: 'The rule as it is now', schema: ruleRecord } },
      handler: async ({ caller, params, body, cause }) => {
        const edit = (current: RuleDraft): RuleDraft =>
          toDraft(parseMerged(ruleBody, mergePatch(fromDraft(current), body)));
        const rule = await rules.edit(caller.tenantId, params.rule_id, edit, cause);
        return { status: 200, body: toRuleRecord(rule) };
      },
    }),
    defineRoute({
      method: 'delete',
      audit: 'rule.delete',
      path: `${PATH}/{rule_id}`,
      operationId: 'deleteAlertRule',
      tag: TAG,
      summary: 'Delete a rule',
      description: 'Its alerts stay in history.',
      access: 'admin',
      params: ruleParams,
      responses: { 204: { description: 'The rule is deleted' } },
      handler: async ({ caller, params, cause }) => {
        await rules.delete(caller.tenantId, params.rule_id, cause);
        return { status: 204 };
      },
    }),
    defineRoute({
      method: 'get',
      path: `${PATH}/{rule_id}/evaluations`,
      operationId: 'listAlertRuleEvaluations',
      tag: TAG,
      summary: 'List the last decisions of a rule, with their reasons',
      access: 'admin',
      params: ruleParams,
      responses: {
        200: { description: 'The last 100, newest first', schema: z.object({ items: z.array(evaluation) }) },
      },
      handler: async ({ caller, params }) => {
        const evaluations = await rules.evaluations(caller.tenantId, params.rule_id);
        return { status: 200, body: { items: evaluations.map(toEvaluationBody) } };
      },
    }),
  ];
}

function toEvaluationBody(decision: Evaluation): z.output<typeof evaluation> {
  return {
    outcome: decision.outcome,
    reason: decision.reason,
    count: decision.count,
    alert_id: decision.alertId,
    event_id: decision.eventId,
    event_time: toTimestamp(decision.eventTime),
    window: { start: toTimestamp(decision.windowStart), end: toTimestamp(decision.windowEnd) },
    rule_kind: decision.condition.kind,
    event_count: decision.eventCount,
    threshold: thresholdsOf(decision.condition).threshold,
    spend: toSpend(decision),
    ...toDeviation(decision),
    ...toBurn(decision),
    ...toForecast(decision),
    cooldown_until: toTimestampOrNull(decision.cooldownUntil),
    evaluated_at: toTimestamp(decision.evaluatedAt),
  };
}
