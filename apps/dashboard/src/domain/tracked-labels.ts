import type { Labels } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';
import type { DashboardEvent } from './event.ts';

/** Which labels a workspace tracks. Roll-ups count an event for each tracked label that it has. */
export interface TrackedLabels {
  /** Their names. Rejects with `service_unavailable` if they are not known. */
  of(tenantId: TenantId): Promise<readonly string[]>;
  /**
   * Asks for those of these workspaces, unless the last answer is fresh. Never rejects, and waits for a second at most.
   */
  refresh(tenantIds: Iterable<TenantId>): Promise<void>;
  /** Their names in the last answer; undefined if there has been none. */
  lastKnown(tenantId: TenantId): readonly string[] | undefined;
}

/** The event with those of its labels that are `tracked`. */
export function withTracked(event: DashboardEvent, tracked: readonly string[]): DashboardEvent {
  const { labels } = event.data;
  if (labels === undefined || tracked.length === 0) return event;
  const found: [string, string][] = [];
  for (const name of tracked) if (Object.hasOwn(labels, name)) found.push([name, labels[name]!]);
  return found.length === 0 ? event : { ...event, tracked: found };
}

/** The value of a label; undefined without it. Names of labels may be those of properties of every object. */
export function labelIn(labels: Labels | undefined, name: string): string | undefined {
  return labels !== undefined && Object.hasOwn(labels, name) ? labels[name] : undefined;
}
