import { useSyncExternalStore } from 'react';
import { dayOf } from '../format/zoned.ts';

let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  // The clock stood still while it had no listeners.
  if (timer === undefined) now = Date.now();
  timer ??= setInterval(() => {
    if (document.hidden) return;
    now = Date.now();
    for (const each of listeners) each();
  }, 1_000);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

/** The time in milliseconds, updated every second while the page is visible. All relative times share it. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}

/** The day in the zone, such as "2026-11-22". */
export function useToday(zone: string): string {
  return useSyncExternalStore(subscribe, () => dayOf(now, zone));
}
