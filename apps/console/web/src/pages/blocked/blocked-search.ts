/** What the address of the page says beside its span: the kind, and the event or the run in the drawer. */
export interface BlockedSearch {
  kind?: 'budget' | 'guard';
  event?: string;
  run?: string;
}

export function parseBlockedSearch({ kind, event, run }: Record<string, unknown>): BlockedSearch {
  return {
    ...(kind === 'guard' && { kind }),
    ...(typeof event === 'string' && { event }),
    ...(typeof run === 'string' && { run }),
  };
}
