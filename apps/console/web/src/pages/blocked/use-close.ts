import { useNavigate } from '@tanstack/react-router';

/** Closes the drawer by removing its content from the URL. */
export function useClose(): () => void {
  const navigate = useNavigate();
  return () =>
    void navigate({
      from: '/w/$slug/blocked',
      to: '.',
      // Keeps the scroll position of the list.
      resetScroll: false,
      search: ({ event: _event, run: _run, ...rest }) => rest,
    });
}
