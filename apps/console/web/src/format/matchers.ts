import type { Api } from '@tollkeeper/client';

type Matcher = Api.AlertSilenceInput['matchers'][number];

const MATCHER = /^(rule_id|rule_name|severity|agent_id|label:[a-z][a-z0-9_.-]{0,31})\s*(!=|=)\s*(.{1,128})$/u;

/** The matchers of a typed text with one per line, or the first line that is none. */
export function readMatchers(
  text: string,
): { matchers: Matcher[]; bad?: undefined } | { matchers?: undefined; bad: number } {
  const matchers: Matcher[] = [];
  for (const [index, typed] of text.split('\n').entries()) {
    if (typed.trim() === '') continue;
    const [, field, op, value] = MATCHER.exec(typed.trim()) ?? [];
    if (field === undefined || value === undefined) return { bad: index + 1 };
    matchers.push({ field, op: op === '!=' ? '!=' : '=', value });
  }
  return { matchers };
}

/** As {@link readMatchers} reads them. */
export function matcherLines(matchers: readonly Matcher[]): string {
  return matchers.map(({ field, op, value }) => `${field}${op}${value}`).join('\n');
}

type Scope = Api.Alert['scope_type'] | NonNullable<Api.Alert['budget']>['scope'];
const IS_AGENT: Record<Scope, boolean> = {
  ...{ agent: true, workspace: false, tenant: false, plan: false, budget: false },
};

/** The agent that the alert is about, if it is about one. */
export function agentOf({ scope_type, scope_id, deviation, budget }: Api.Alert): string | undefined {
  const ofBudget = budget === null || !IS_AGENT[budget.scope] ? undefined : budget.scope_id;
  return IS_AGENT[scope_type] ? scope_id : (ofBudget ?? deviation?.agent_id ?? undefined);
}

/** What fits alerts that are about the same as this one. */
export function matchersOf(alert: Api.Alert): Matcher[] {
  const { rule_name, labels = {} } = alert;
  const agentId = agentOf(alert);
  const equal = (field: string, value: string): Matcher => ({ field, op: '=', value });
  return [
    equal('rule_name', rule_name),
    ...(agentId === undefined ? [] : [equal('agent_id', agentId)]),
    ...Object.entries(labels).map(([name, value]) => equal(`label:${name}`, value)),
  ];
}
