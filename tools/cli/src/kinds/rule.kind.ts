import type { Api } from '@tollkeeper/client';
import { type RuleEntry, toMicros, toUsd } from '../files/document.ts';
import { idByKey, idOf, type Kind, mergePatch, requireKnown, type WorkspaceContext } from './kind.ts';

type RuleValue = Omit<RuleEntry, 'name'>;

/** Alert rules. They name their channels by name. */
export const ruleKind: Kind<RuleEntry> = {
  section: 'rules',
  keyField: 'name',
  async read(workspace) {
    const { items } = await workspace.api.call('GET /api/v1/alerts/rules');
    if (items.some(({ channel_config_ids }) => channel_config_ids.length > 0)) await readChannelIds(workspace);
    const names = new Map([...workspace.ids].map(([key, id]) => [id, key.replace(/^channels\//, '')]));
    return items.map((rule) => ({ key: rule.name, id: rule.id, value: entryOf(rule, names) }));
  },
  async desired(workspace, { name, ...rest }) {
    if (rest.channels.length > 0) await readChannelIds(workspace);
    for (const channel of rest.channels) requireKnown(workspace, 'channels', channel, `rules "${name}": channels`);
    return { ...rest, event_types: TYPES_OF[rest.rule_kind](rest.event_types) };
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

type RuleKind = RuleEntry['rule_kind'];
/** The types that a file names, by kind. A rule about spend counts only settlements, named or not. */
const TYPES_OF: Record<RuleKind, (types: string[]) => string[]> = {
  event_count_gte: (types) => types,
  first_occurrence: (types) => types,
  spend_gte: () => [],
};

function entryOf(rule: Api.AlertRule, channels: ReadonlyMap<string, string>): RuleValue {
  const { description, enabled, severity, scope_type, scope_id, rule_kind, rule_config, cooldown_seconds } = rule;
  const { window_seconds, threshold, threshold_micros, filters } = rule_config;
  return {
    ...{ description, enabled, severity, agent: AGENT_OF[scope_type](scope_id), rule_kind, window_seconds, threshold },
    ...{ threshold_usd: toUsd(threshold_micros), ...filters, cooldown_seconds },
    event_types: TYPES_OF[rule_kind](filters.event_types),
    channels: rule.channel_config_ids.map((id) => channels.get(id) ?? id),
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
  return {
    ...{ name, description, enabled, severity, rule_kind, cooldown_seconds },
    ...(agent === null
      ? { scope_type: 'workspace', scope_id: idOf(workspace) }
      : { scope_type: 'agent', scope_id: agent }),
    rule_config: {
      ...{ window_seconds, threshold, threshold_micros: toMicros(threshold_usd) },
      filters: { event_types, percents, labels },
    },
    channel_config_ids: channels.map((channel) => idByKey(workspace, 'channels', channel)),
  };
}
