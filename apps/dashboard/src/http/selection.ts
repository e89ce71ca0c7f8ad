import type { Labels } from '@tollkeeper/contracts';
import { AppError, type TenantId } from '@tollkeeper/kernel';
import { DIMENSIONS, type Grouping } from '../domain/breakdown.ts';
import { WHOLE_WORKSPACE, type Subject } from '../domain/tallies.ts';
import type { TrackedLabels } from '../domain/tracked-labels.ts';

/** What a query asks about. Rejects with `invalid_request` for labels that the workspace does not track. */
export interface Selection {
  /** The whole workspace, one agent, or one value of a label. */
  subjectOf(tenantId: TenantId, filter: { label?: Labels; agent_id?: string }): Promise<Subject>;
  /** `agent`, `model`, `plan`, or `label:` and a name. `path` is the parameter that says it. */
  groupingOf(tenantId: TenantId, by: string, path?: string): Promise<Grouping>;
}

const LABEL = 'label:';

export function createSelection(trackedLabels: TrackedLabels): Selection {
  async function requireTracked(tenantId: TenantId, name: string, path: string): Promise<void> {
    const tracked = await trackedLabels.of(tenantId);
    if (tracked.includes(name)) return;
    const instead = tracked.length === 0 ? 'it tracks none' : `it tracks ${tracked.join(', ')}`;
    const how = 'An owner can add it to tracked_labels in the settings of the workspace';
    throw invalid(path, `must be a label that the workspace tracks; ${instead}. ${how}`);
  }

  return {
    async subjectOf(tenantId, { label = {}, agent_id: agentId }) {
      const [first, ...others] = Object.entries(label);
      if (first === undefined) return agentId === undefined ? WHOLE_WORKSPACE : { scope: 'agent', agentId };
      const [name, value] = first;
      if (others.length > 0) throw invalid(`label.${others[0]![0]}`, 'cannot be combined with another label');
      if (agentId !== undefined) throw invalid('agent_id', `cannot be combined with label.${name}`);
      await requireTracked(tenantId, name, `label.${name}`);
      return { scope: 'label', name, value };
    },
    async groupingOf(tenantId, by, path = 'by') {
      const dimension = DIMENSIONS.find((known) => known === by);
      if (dimension !== undefined) return { by: dimension };
      const name = by.slice(LABEL.length);
      await requireTracked(tenantId, name, path);
      return { by: 'label', name };
    },
  };
}

/** The query of a drilldown that reads roll-ups of agents, which do not know labels. */
export function withoutLabel<Query extends { label?: Labels | undefined }>({
  label,
  ...query
}: Query): Omit<Query, 'label'> {
  const [name] = Object.keys(label ?? {});
  if (name === undefined) return query;
  const elsewhere = 'Only /spend, /spend/series, /export, /budget-blocked and /guard-blocked can filter by a label';
  throw invalid(`label.${name}`, `cannot filter this drilldown. ${elsewhere}`);
}

export function invalid(path: string, message: string): AppError {
  return new AppError('invalid_request', `${path} ${message}.`, { details: [{ path, message }] });
}
