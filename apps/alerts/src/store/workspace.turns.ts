import type { TenantId } from '@tollkeeper/kernel';

/**
 * Gives each workspace turns of bounded work until all have none left. `takeTurn` returns whether there may be more. A
 * workspace whose turn fails does not delay the others; it is tried again in the next pass.
 */
export async function inTurns(
  tenantIds: readonly TenantId[],
  takeTurn: (tenantId: TenantId) => Promise<boolean>,
): Promise<void> {
  let waiting = tenantIds;
  const failures: unknown[] = [];
  while (waiting.length > 0) {
    const next: TenantId[] = [];
    for (const tenantId of waiting) {
      try {
        if (await takeTurn(tenantId)) next.push(tenantId);
      } catch (failure) {
        failures.push(failure);
      }
    }
    waiting = next;
  }
  if (failures.length > 0) throw new AggregateError(failures, 'the messages of some workspaces were not sent');
}
