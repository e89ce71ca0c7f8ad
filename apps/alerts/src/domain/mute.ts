import { type AuditedFields, type Cause, haveLabels, type Labels, type ScopeType } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';
import type { Alert } from './alert.ts';
import { agentOfLimit } from './event.ts';
import type { MutedBy } from './muted-by.ts';
import { endOf, isWithin, type WeeklyTimes } from './weekly.times.ts';

/** What a matcher can look at: see {@link subjectOf}. */
export const MATCHED_FIELDS = ['rule_id', 'rule_name', 'severity', 'agent_id'] as const;
export type MatchedField = (typeof MATCHED_FIELDS)[number] | `label:${string}`;
export const MATCH_OPERATORS = ['=', '!='] as const;

/** A value that alerts must have or must not have: exact, or a prefix followed by `*`. */
interface Matcher {
  field: MatchedField;
  op: (typeof MATCH_OPERATORS)[number];
  value: string;
}

interface MuteBase {
  id: string;
  /** An alert must fit all of them; none fit every alert. */
  matchers: readonly Matcher[];
  reason: string;
  /** The user, with the name at that time. */
  createdBy: { id: string; name: string };
  createdAt: Date;
  /** Increases with every change. */
  version: number;
}

/** Holds messages back once. */
export interface Silence extends MuteBase {
  startsAt: Date;
  endsAt: Date;
}

/** Holds messages back every week. */
export interface MaintenanceWindow extends MuteBase, WeeklyTimes {
  /** Unique in the workspace. */
  name: string;
}

export type SilenceDraft = Pick<Silence, 'matchers' | 'startsAt' | 'endsAt' | 'reason'>;
export type MaintenanceDraft = Pick<MaintenanceWindow, 'name' | 'matchers' | 'reason' | keyof WeeklyTimes>;

/** All that holds messages of a workspace back. */
export interface Mutes {
  /** Oldest first, with the last of those that have ended. */
  silences: readonly Silence[];
  /** Oldest first. */
  windows: readonly MaintenanceWindow[];
}

/** Maximum numbers in a workspace: of silences that have not ended, and of windows. */
export const MAX_SILENCES = 50;
export const MAX_WINDOWS = 20;
/** How many silences that have ended are kept. */
export const MAX_ENDED_SILENCES = 50;

/** A silence or window that is active. */
export interface ActiveMute {
  /** Differs after each change of the silence or window. */
  key: string;
  matchers: readonly Matcher[];
  mutedBy(): MutedBy;
}

/** The silences and windows that are active at `at`, epoch milliseconds. */
export function activeMutes({ silences, windows }: Mutes, at: number): ActiveMute[] {
  const active: ActiveMute[] = [];
  for (const silence of silences) {
    const [start, end] = [silence.startsAt.getTime(), silence.endsAt.getTime()];
    if (start <= at && at < end) active.push(toActive('silence', silence, () => end));
  }
  for (const window of windows) {
    if (isWithin(window, at)) active.push(toActive('maintenance', window, () => endOf(window, at)));
  }
  return active;
}

function toActive(kind: MutedBy['kind'], mute: MuteBase, until: () => number | null): ActiveMute {
  const { id, version, matchers, reason, createdBy } = mute;
  // The end of a window takes a search, and most alerts do not need it.
  let made: MutedBy | undefined;
  const mutedBy = () => (made ??= { kind, id, reason, createdBy, until: until() });
  return { key: `${id}.${version}`, matchers, mutedBy };
}

type AboutAgent = Pick<Alert, 'scopeType' | 'scopeId' | 'budget' | 'deviation'>;
/** What silences and windows know of an alert. */
type Subject = AboutAgent & Pick<Alert, 'ruleId' | 'ruleName' | 'severity' | 'labels'>;

/** The one of these that holds the messages of the alert back for longest; null if none does. */
export function muteOf(active: readonly ActiveMute[], alert: Subject): ActiveMute | null {
  const endsAt = (mute: ActiveMute) => mute.mutedBy().until ?? Infinity;
  return active
    .filter(({ matchers }) => fitsAll(matchers, alert))
    .reduce<ActiveMute | null>((last, each) => (last === null || endsAt(each) > endsAt(last) ? each : last), null);
}

const LABEL = 'label:';

/** As in Alertmanager, a value that the alert does not have is not equal to any. */
function fitsAll(matchers: readonly Matcher[], alert: Subject): boolean {
  const subject = subjectOf(alert);
  return matchers.every(({ field, op, value }) => haveLabels(subject, { [field]: value }) === (op === '='));
}

/**
 * The values of an alert by the fields of matchers. Only what the whole alert is about: an alert of all agents does not
 * have the agent of the event that it fired with.
 */
function subjectOf({ ruleId, ruleName, severity, labels, ...about }: Subject): Labels {
  const agentId = agentOf(about);
  const named = Object.entries(labels).map(([name, value]) => [`${LABEL}${name}`, value]);
  return {
    ...{ rule_id: ruleId, rule_name: ruleName, severity },
    ...(agentId !== null && { agent_id: agentId }),
    ...Object.fromEntries(named),
  };
}

function agentOf(alert: AboutAgent): string | null {
  const ofBudget = alert.budget && agentOfLimit(alert.budget);
  return AGENT_OF_SCOPE[alert.scopeType](alert.scopeId) ?? ofBudget ?? alert.deviation?.agentId ?? null;
}

const AGENT_OF_SCOPE: Record<ScopeType, (scopeId: string) => string | null> = {
  workspace: () => null,
  tenant: () => null,
  agent: (scopeId) => scopeId,
};

export const SILENCE_STATES = ['pending', 'active', 'expired'] as const;

export function stateOf({ startsAt, endsAt }: Silence, at: number): (typeof SILENCE_STATES)[number] {
  if (endsAt.getTime() <= at) return 'expired';
  return startsAt.getTime() <= at ? 'active' : 'pending';
}

/** As people write them: "severity=low". */
const matcherTexts = (matchers: readonly Matcher[]) => matchers.map(({ field, op, value }) => `${field}${op}${value}`);

/** The fields of a silence that the audit log records. */
export const AUDITED_SILENCE: AuditedFields<SilenceDraft> = {
  matchers: ({ matchers }) => matcherTexts(matchers),
  starts_at: ({ startsAt }) => startsAt.toISOString(),
  ends_at: ({ endsAt }) => endsAt.toISOString(),
  reason: ({ reason }) => reason,
};

/** The fields of a maintenance window that the audit log records. */
export const AUDITED_WINDOW: AuditedFields<MaintenanceDraft> = {
  name: ({ name }) => name,
  weekdays: ({ weekdays }) => [...weekdays],
  start: ({ start }) => start,
  end: ({ end }) => end,
  time_zone: ({ timeZone }) => timeZone,
  matchers: ({ matchers }) => matcherTexts(matchers),
  reason: ({ reason }) => reason,
};

/** A silence or window that was created, changed or deleted. */
export interface ChangedMute<T> {
  before: T | null;
  after: T | null;
}

/** Stores silences and windows. Changes are audited in the same transaction. */
export interface MuteStore {
  read(tenantId: TenantId): Promise<Mutes>;
  /**
   * Stores what `decide` makes of a silence. If it throws, nothing is stored and the error is passed on. It may run
   * again on newer mutes, and must have no side effects.
   */
  changeSilence<C extends ChangedMute<Silence>>(
    tenantId: TenantId,
    decide: (mutes: Mutes) => C,
    cause: Cause,
  ): Promise<C>;
  /** As `changeSilence`, for a window. */
  changeWindow<C extends ChangedMute<MaintenanceWindow>>(
    tenantId: TenantId,
    decide: (mutes: Mutes) => C,
    cause: Cause,
  ): Promise<C>;
}
