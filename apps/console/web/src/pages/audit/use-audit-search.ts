import { useNavigate, useSearch } from '@tanstack/react-router';
import type { AuditSearch } from './audit-search.ts';

type Change = { [K in keyof AuditSearch]: AuditSearch[K] | undefined };

/** The filters in the URL, and how to change them. */
export function useAuditSearch(): readonly [AuditSearch, (change: Change) => void] {
  const search = useSearch({ from: '/account/w/$slug/audit' });
  const navigate = useNavigate();
  function set(change: Change): void {
    void navigate({
      from: '/w/$slug/audit',
      to: '.',
      // Keeps the scroll position of the list.
      resetScroll: false,
      search: (before) =>
        Object.fromEntries(Object.entries({ ...before, ...change }).filter(([, value]) => value !== undefined)),
    });
  }
  return [search, set];
}
