import { useNavigate } from '@tanstack/react-router';

/** Closes the drawer: the address no longer names what was in it. */
export function useClose(): () => void {
  const navigate = useNavigate();
  return () =>
    void navigate({
      from: '/w/$slug/blocked',
      to: '.',
      // The list stays where it is.
      resetScroll: false,
      search: ({ event: _event, run: _run, ...rest }) => rest,
    });
}
