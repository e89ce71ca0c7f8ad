export type BlockedKind = 'budget' | 'guard';

/** Why a call is blocked. In the order of the page, which shows the first one unless its address says another. */
export const BLOCKED_KINDS = Object.keys({ budget: null, guard: null } satisfies Record<BlockedKind, null>) as [
  BlockedKind,
  ...BlockedKind[],
];
const [SHOWN_FIRST] = BLOCKED_KINDS;

/** What the address of the page says beside its span: the kind, and the event or the run in the drawer. */
export interface BlockedSearch {
  kind?: BlockedKind;
  event?: string;
  run?: string;
}

export function parseBlockedSearch({ kind, event, run }: Record<string, unknown>): BlockedSearch {
  return {
    ...kindInAddress(BLOCKED_KINDS.find((known) => known === kind)),
    ...(typeof event === 'string' && { event }),
    ...(typeof run === 'string' && { run }),
  };
}

/** The part of the address that says the kind. */
export function kindInAddress(kind: BlockedKind | undefined): Pick<BlockedSearch, 'kind'> {
  return kind === undefined || kind === SHOWN_FIRST ? {} : { kind };
}
