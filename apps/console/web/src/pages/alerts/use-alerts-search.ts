import { useNavigate, useSearch } from '@tanstack/react-router';
import type { AlertsSearch } from './alerts-search.ts';

type Change = { [K in keyof AlertsSearch]: AlertsSearch[K] | undefined };

/** What the address says, and how to change it. A filter that changes leads back to the first page of the list. */
export function useAlertsSearch(): readonly [AlertsSearch, (change: Change) => void] {
  const search = useSearch({ from: '/account/w/$slug/alerts' });
  const navigate = useNavigate();
  function set(change: Change): void {
    const keepsPage = 'offset' in change || 'alert' in change;
    void navigate({
      from: '/w/$slug/alerts',
      to: '.',
      // The list stays where it is.
      resetScroll: false,
      search: (before) => {
        const next = { ...before, ...(!keepsPage && { offset: undefined }), ...change };
        return Object.fromEntries(Object.entries(next).filter(([, value]) => value !== undefined));
      },
    });
  }
  return [search, set];
}
