import type { Api } from '@tollkeeper/client';
import { type RuleEntry, toMicros, toUsd } from '../files/document.ts';
import { idByKey, idOf, type Kind, mergePatch, requireKnown, type WorkspaceContext } from './kind.ts';

/** The id of a daily budget, which says whose it is: it has no name. */
const DAILY_BUDGET = /^bud_(workspace$|agent\.|plan\.)/;

type RuleValue = Omit<RuleEntry, 'name'>;

/** Alert rules. They name their channels by name. */
export const ruleKind: Kind<RuleEntry> = {
  section: 'rules',
  keyField: 'name',
  async read(workspace) {
    const { items } = await workspace.api.call('GET /api/v1/alerts/rules');
    const channelIds = items.flatMap(({ channel_config_ids, routes = [] }) => [channel_config_ids, ...routes].flat());
    if (channelIds.length > 0) await readChannelIds(workspace);
    if (items.some(({ rule_config }) => rule_config.budget_id !== undefined)) await readBudgetIds(workspace);
    const named = [...workspace.ids].filter(([key]) => /^(channels|budgets)\//.test(key));
    const names = new Map(named.map(([key, id]) => [id, key.slice(key.indexOf('/') + 1)]));
    return items.map((rule) => ({ key: rule.name, id: rule.id, value: entryOf(rule, names) }));
  },
  async desired(workspace, { name, ...rest }) {
    const channels = [...rest.channels, ...rest.routes.flatMap((route) => route.channels)];
    if (channels.length > 0) await readChannelIds(workspace);
    for (const channel of channels) requireKnown(workspace, 'channels', channel, `rules "${name}": channels`);
    if (rest.budget !== null && !DAILY_BUDGET.test(rest.budget)) {
      await readBudgetIds(workspace);
      requireKnown(workspace, 'budgets', rest.budget, `rules "${name}": budget`);
    }
    return { ...rest, event_types: typesOf(rest.rule_kind, rest.event_types) };
  },
  exported: ({ key, value }) => ({ name: key, ...value }),
  async create(workspace, entry) {
    const { id } = await workspace.api.call('POST /api/v1/alerts/rules', { body: bodyOf(workspace, entry) });
    return id;
  },
  update(workspace, { id, value }, entry) {
    const before = bodyOf(workspace, { name: entry.name, ...(value as RuleValue) });
    const body = mergePatch(before, bodyOf(workspace, entry));
    return workspace.api.call('PATCH /api/v1/alerts/rules/{rule_id}', { path: { rule_id: id }, body });
  },
  remove: ({ api }, { id }) => api.call('DELETE /api/v1/alerts/rules/{rule_id}', { path: { rule_id: id } }),
};

/** A file may have rules without the channels that they name. */
async function readChannelIds(workspace: WorkspaceContext): Promise<void> {
  if (workspace.id === null || [...workspace.ids.keys()].some((key) => key.startsWith('channels/'))) return;
  const { items } = await workspace.api.call('GET /api/v1/alerts/channels');
  for (const { id, name } of items) workspace.ids.set(`channels/${name ?? id}`, id);
}

/** A file may have rules without the budgets that they name. */
async function readBudgetIds(workspace: WorkspaceContext): Promise<void> {
  if (workspace.id === null) return;
  for (const { id, name, origin } of await workspace.budgets()) {
    if (origin === null && !workspace.ids.has(`budgets/${name}`)) workspace.ids.set(`budgets/${name}`, id);
  }
}

type RuleKind = RuleEntry['rule_kind'];
/** Whether a file names the types of events and the window. Other kinds count only settlements, in their own window. */
const NAMES: Record<RuleKind, { types: boolean; window: boolean }> = {
  event_count_gte: { types: true, window: true },
  first_occurrence: { types: true, window: true },
  spend_gte: { types: false, window: true },
  deviation_gte: { types: false, window: false },
  burn_rate_gte: { types: false, window: false },
  forecast_gte: { types: false, window: false },
};

function typesOf(kind: RuleKind, types: string[]): string[] {
  return NAMES[kind].types ? types : [];
}

function entryOf(rule: Api.AlertRule, names: ReadonlyMap<string, string>): RuleValue {
  const { description, enabled, severity, scope_type, scope_id, rule_kind, rule_config, cooldown_seconds } = rule;
  const { window_seconds, threshold, threshold_micros, times = 0, min_micros = 0, filters } = rule_config;
  const { budget_id, fraction = 0, long_seconds = 0, short_seconds = 0, percent = 0 } = rule_config;
  const channelNames = (ids: readonly string[]) => ids.map((id) => names.get(id) ?? id);
  return {
    ...{ description, enabled, severity, agent: AGENT_OF[scope_type](scope_id), rule_kind, threshold },
    ...(NAMES[rule_kind].window && { window_seconds }),
    ...{ threshold_usd: toUsd(threshold_micros), times, min_usd: toUsd(min_micros) },
    ...{ budget: budget_id === undefined ? null : (names.get(budget_id) ?? budget_id) },
    ...{ fraction, long_seconds, short_seconds, percent, ...filters, cooldown_seconds },
    event_types: typesOf(rule_kind, filters.event_types),
    channels: channelNames(rule.channel_config_ids),
    routes: (rule.routes ?? []).map(({ label, value, channel_ids }) => ({
      ...{ label, value, channels: channelNames(channel_ids) },
    })),
    group_seconds: rule.group_seconds ?? 0,
  };
}

/** The agent of a rule by the type of its scope: `tenant` and `workspace` both mean the whole workspace. */
const AGENT_OF: Record<Api.AlertRule['scope_type'], (scopeId: string) => string | null> = {
  tenant: () => null,
  workspace: () => null,
  agent: (scopeId) => scopeId,
};

function bodyOf(workspace: WorkspaceContext, entry: RuleEntry): Api.AlertRuleInput {
  const { name, description, enabled, severity, agent, rule_kind, cooldown_seconds } = entry;
  const { window_seconds, threshold, threshold_usd, event_types, percents, labels, channels } = entry;
  const { times, min_usd, budget, fraction, long_seconds, short_seconds, percent, routes, group_seconds } = entry;
  const channelIds = (named: readonly string[]) => named.map((channel) => idByKey(workspace, 'channels', channel));
  return {
    ...{ name, description, enabled, severity, rule_kind, cooldown_seconds, group_seconds },
    ...(agent === null
      ? { scope_type: 'workspace', scope_id: idOf(workspace) }
      : { scope_type: 'agent', scope_id: agent }),
    rule_config: {
      ...{ window_seconds, threshold, threshold_micros: toMicros(threshold_usd), times, min_micros: toMicros(min_usd) },
      ...{ budget_id: budget && idByKey(workspace, 'budgets', budget), fraction, long_seconds, short_seconds, percent },
      filters: { event_types, percents, labels },
    },
    channel_config_ids: channelIds(channels),
    routes: routes.map(({ label, value, channels: named }) => ({ label, value, channel_ids: channelIds(named) })),
  };
}
