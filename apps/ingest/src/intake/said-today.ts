import type { TenantId } from '@tollkeeper/kernel';

/** Most of what was said that is in memory. What is forgotten is said again. */
const MAX_SAID = 10_000;

/** What this process has said about workspaces on a UTC day, so that it says it once. */
export interface SaidToday {
  isNew(tenantId: TenantId, day: string, what: string): boolean;
  note(tenantId: TenantId, day: string, what: string): void;
}

export function createSaidToday(): SaidToday {
  const said = new Set<string>();
  const nameOf = (...parts: [TenantId, string, string]) => parts.join(' ');
  return {
    isNew: (...parts) => !said.has(nameOf(...parts)),
    note(...parts) {
      if (said.size >= MAX_SAID) said.clear();
      said.add(nameOf(...parts));
    },
  };
}

/** `2026-11-26` of epoch milliseconds. */
export function utcDayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 'yyyy-mm-dd'.length);
}
