/** The rules of a benchmark's workspaces. */
export interface RuleSettings {
  eventType: string;
  threshold: number;
  windowSeconds: number;
}

/** The API's body for a rule over all events of a type in the workspace. */
export function toRuleBody(tenantId: string, { eventType, threshold, windowSeconds }: RuleSettings): object {
  return {
    name: `${threshold} times ${eventType}`,
    severity: 'high',
    scope_type: 'workspace',
    scope_id: tenantId,
    rule_kind: 'event_count_gte',
    rule_config: { window_seconds: windowSeconds, threshold, filters: { event_types: [eventType] } },
  };
}
