import { provenTenantId, type TenantId } from '@tollkeeper/kernel';
import { generateEvent, type GeneratedTraffic } from './event.generator.ts';
import type { TenantEvent } from './evaluator.traffic.ts';

const HOUR_MS = 3_600_000;
const WORKSPACES = 16;

/**
 * Mostly settled spend of the last hour: events number `first` to `first + count - 1`, of 16 workspaces in turn, each
 * with this many `agents` and `labels`.
 */
export function* generateSpend(
  count: number,
  first = 0,
  { agents, labels }: Pick<GeneratedTraffic, 'agents' | 'labels'> = {},
): Generator<TenantEvent> {
  const end = Date.now();
  const traffic = { count: first + count, start: end - HOUR_MS, end, ...{ agents, labels } };
  for (let index = first; index < first + count; index += 1) {
    yield { tenantId: tenants[index % WORKSPACES]!, event: generateEvent(traffic, index) };
  }
}

export const tenants: readonly TenantId[] = Array.from({ length: WORKSPACES }, (_, index) =>
  provenTenantId(`ws_spend${index}`),
);
