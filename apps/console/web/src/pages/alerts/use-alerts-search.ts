import { useNavigate, useSearch } from '@tanstack/react-router';
import type { AlertsSearch } from './alerts-search.ts';

type Change = { [K in keyof AlertsSearch]: AlertsSearch[K] | undefined };

/** The filters in the URL, and how to change them. A changed filter returns to the first page of the list. */
export function useAlertsSearch(): readonly [AlertsSearch, (change: Change) => void] {
  const search = useSearch({ from: '/account/w/$slug/alerts' });
  const navigate = useNavigate();
  function set(change: Change): void {
    const keepsPage = 'offset' in change || 'alert' in change;
    void navigate({
      from: '/w/$slug/alerts',
      to: '.',
      // Keeps the scroll position of the list.
      resetScroll: false,
      search: (before) => {
        const next = { ...before, ...(!keepsPage && { offset: undefined }), ...change };
        return Object.fromEntries(Object.entries(next).filter(([, value]) => value !== undefined));
      },
    });
  }
  return [search, set];
}
