import { useSyncExternalStore } from 'react';

interface Status {
  /** The last answer said that the session has ended. */
  ended: boolean;
  /** The last call did not reach the server. */
  lost: boolean;
}

let status: Status = { ended: false, lost: false };
const listeners = new Set<() => void>();

function set(change: Partial<Status>): void {
  const next = { ...status, ...change };
  if (next.ended === status.ended && next.lost === status.lost) return;
  status = next;
  for (const listener of listeners) listener();
}

/** State of the session and the server, updated by every API call. */
export const connection = {
  current: (): Status => status,
  sessionEnded: () => set({ ended: true, lost: false }),
  sessionBegan: () => set({ ended: false, lost: false }),
  serverLost: () => set({ lost: true }),
  serverAnswered: () => set({ lost: false }),
};

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useConnection(): Status {
  return useSyncExternalStore(subscribe, connection.current);
}

const KEY = 'tollkeeper.session';

/**
 * Whether this browser has logged in and not out. Pages cannot see the cookie, so without this hint the first visit
 * would request an account and fail.
 */
export const sessionHint = {
  get: () => localStorage.getItem(KEY) !== null,
  set: () => localStorage.setItem(KEY, 'yes'),
  clear: () => localStorage.removeItem(KEY),
};
