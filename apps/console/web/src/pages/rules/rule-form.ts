import type { Api } from '@tollkeeper/client';
import { labelList, readLabels } from '../../format/labels.ts';
import { editableMoney } from '../../format/money.ts';
import { isForEachRequest, rules } from '../../text/rules.ts';
import { RULE_KINDS, type RuleForm } from './rule-kinds.ts';

export const PERCENTS = [50, 80, 100] as const;
const MAX_MINUTES = 43_200;
const MAX_GROUP_MINUTES = 60;

export const EMPTY: RuleForm = {
  name: '',
  description: '',
  kind: 'event_count_gte',
  eventTypes: ['budget.blocked'],
  percents: [],
  labels: '',
  threshold: '3',
  amount: '',
  times: '3',
  budget: '',
  share: '25',
  forecast: '100',
  long: '60',
  short: '5',
  windowMinutes: '10',
  scopeType: 'workspace',
  agentId: '',
  severity: 'medium',
  pauseMinutes: '60',
  groupMinutes: '0',
  channelIds: [],
  routes: [],
};

/** Maps the scope of a rule to the form, and back. */
const SCOPES: Record<
  Api.AlertRule['scope_type'],
  { agentId(scopeId: string): string; scopeId(form: RuleForm, workspaceId: string): string }
> = {
  workspace: { agentId: () => '', scopeId: (_form, workspaceId) => workspaceId },
  tenant: { agentId: () => '', scopeId: (_form, workspaceId) => workspaceId },
  agent: { agentId: (id) => id, scopeId: ({ agentId }) => agentId },
};

/** The change of the form for a chosen agent, or for none. */
export function ofAgent(agentId: string): Pick<RuleForm, 'scopeType' | 'agentId'> {
  return { scopeType: agentId === '' ? 'workspace' : 'agent', agentId };
}

export function toForm(rule: Api.AlertRule): RuleForm {
  const { rule_config: config } = rule;
  return {
    name: rule.name,
    description: rule.description,
    kind: isForEachRequest(config) ? 'raise_requested' : rule.rule_kind,
    eventTypes: config.filters.event_types,
    percents: config.filters.percents,
    labels: labelList(config.filters.labels).join('\n'),
    threshold: config.threshold === 0 ? '' : String(config.threshold),
    amount: amountOf(config),
    share: EMPTY.share,
    forecast: config.percent === undefined ? EMPTY.forecast : String(config.percent),
    long: EMPTY.long,
    short: EMPTY.short,
    times: config.times === undefined ? EMPTY.times : String(config.times),
    budget: config.budget_id ?? '',
    ...(config.fraction !== undefined && burnOf(config)),
    windowMinutes: String(config.window_seconds / 60),
    scopeType: rule.scope_type,
    agentId: SCOPES[rule.scope_type].agentId(rule.scope_id),
    severity: rule.severity,
    pauseMinutes: String(rule.cooldown_seconds / 60),
    groupMinutes: String((rule.group_seconds ?? 0) / 60),
    channelIds: rule.channel_config_ids,
    routes: (rule.routes ?? []).map(({ channel_ids: channelIds, ...route }) => ({ ...route, channelIds })),
  };
}

function burnOf({ fraction = 0, long_seconds: long = 0, short_seconds: short = 0 }: Api.AlertRule['rule_config']) {
  return { share: String(Math.round(fraction * 1000) / 10), long: String(long / 60), short: String(short / 60) };
}

function amountOf({ threshold_micros, min_micros = 0 }: Api.AlertRule['rule_config']): string {
  const micros = threshold_micros === 0 ? min_micros : threshold_micros;
  return micros === 0 ? '' : editableMoney(micros);
}

/** The merge patch that makes the rule `after` of `before`, without the labels of `before` that `after` lacks. */
export function patchOf(before: Api.AlertRule, after: ReturnType<typeof toRule>): Api.AlertRulePatch {
  const { rule_config: config } = after;
  // Services of the previous release answer without labels.
  const removed = Object.keys(before.rule_config.filters.labels ?? {}).map((name) => [name, null] as const);
  const labels = { ...Object.fromEntries(removed), ...config.filters?.labels };
  return { ...after, rule_config: { ...config, filters: { ...config.filters, labels } } };
}

/** The problems with the fields, by field name. */
export function problemsOf(typed: RuleForm): Partial<Record<keyof RuleForm, string>> {
  const words = rules.form;
  const kind = RULE_KINDS[typed.kind];
  const form = { ...typed, ...kind.fixed };
  const { problem: labels } = readLabels(form.labels);
  return {
    ...kind.problems(form),
    ...(labels !== undefined ? { labels } : {}),
    ...('label' in kind.window && secondsOf(form.windowMinutes) < 1 ? { windowMinutes: words.minutesBad } : {}),
    ...(form.routes.some(({ channelIds }) => channelIds.length === 0) ? { routes: words.routes.bad } : {}),
    ...(secondsOf(form.pauseMinutes) < 0 ? { pauseMinutes: words.pauseBad } : {}),
    ...(secondsOf(form.groupMinutes, MAX_GROUP_MINUTES) < 0 ? { groupMinutes: words.groupBad } : {}),
  };
}

/** Typed minutes in seconds; -1 if not valid. Rules made elsewhere may have fractions of a minute. */
function secondsOf(minutes: string, max = MAX_MINUTES): number {
  const seconds = minutes.trim() === '' ? Number.NaN : Number(minutes) * 60;
  return Number.isFinite(seconds) && seconds >= 0 && seconds <= max * 60 ? Math.round(seconds) : -1;
}

/** The rule of a form without problems. The form does not contain whether the rule is enabled. */
export function toRule(typed: RuleForm, workspaceId: string): Omit<Required<Api.AlertRuleInput>, 'enabled'> {
  const kind = RULE_KINDS[typed.kind];
  const form = { ...typed, ...kind.fixed };
  const eventTypes = [...(kind.eventTypes ?? form.eventTypes)];
  const onlyThresholds = eventTypes.length === 1 && eventTypes[0] === 'budget.threshold_reached';
  return {
    name: form.name,
    description: form.description,
    severity: form.severity,
    scope_type: form.scopeType,
    scope_id: SCOPES[form.scopeType].scopeId(form, workspaceId),
    rule_kind: kind.ruleKind,
    rule_config: {
      window_seconds: 'label' in kind.window ? secondsOf(form.windowMinutes) : kind.window.seconds(form),
      threshold: 0,
      threshold_micros: 0,
      times: 0,
      min_micros: 0,
      budget_id: null,
      fraction: 0,
      long_seconds: 0,
      short_seconds: 0,
      percent: 0,
      ...kind.config(form),
      filters: {
        event_types: eventTypes,
        percents: onlyThresholds ? [...form.percents] : [],
        labels: readLabels(form.labels).labels ?? {},
      },
    },
    cooldown_seconds: secondsOf(form.pauseMinutes),
    channel_config_ids: [...form.channelIds],
    routes: form.routes.map(({ label, value, channelIds }) => ({ label, value, channel_ids: [...channelIds] })),
    group_seconds: secondsOf(form.groupMinutes),
  };
}
