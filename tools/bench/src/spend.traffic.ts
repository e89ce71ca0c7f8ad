import { provenTenantId, type TenantId } from '@tollkeeper/kernel';
import { generateEvent } from './event.generator.ts';
import type { TenantEvent } from './evaluator.traffic.ts';

const HOUR_MS = 3_600_000;
const WORKSPACES = 16;

/**
 * Mostly settled spend of the last hour: events number `first` to `first + count - 1`, of 16 workspaces in turn, each
 * with this many `agents`.
 */
export function* generateSpend(count: number, first = 0, agents?: number): Generator<TenantEvent> {
  const end = Date.now();
  const traffic = { count: first + count, start: end - HOUR_MS, end, ...(agents !== undefined && { agents }) };
  for (let index = first; index < first + count; index += 1) {
    yield { tenantId: tenants[index % WORKSPACES]!, event: generateEvent(traffic, index) };
  }
}

const tenants: TenantId[] = Array.from({ length: WORKSPACES }, (_, index) => provenTenantId(`ws_spend${index}`));
