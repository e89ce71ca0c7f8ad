import type { Api } from '@tollkeeper/client';

export type BlockedKind = keyof Api.Overview['blocked'];

/** Why a call is blocked. In the order of the page, which shows the first one unless its address says another. */
export const BLOCKED_KINDS = Object.keys({ budget: null, guard: null } satisfies Record<BlockedKind, null>) as [
  BlockedKind,
  ...BlockedKind[],
];
const [SHOWN_FIRST] = BLOCKED_KINDS;

/** All blocked calls, whatever blocked them. */
export function allBlocked(calls: Record<BlockedKind, number>): number {
  return BLOCKED_KINDS.reduce((sum, kind) => sum + calls[kind], 0);
}

/** All blocked calls of a row, as {@link allBlocked}. */
export function allBlockedOf(row: Record<`${BlockedKind}_blocked`, number>): number {
  return BLOCKED_KINDS.reduce((sum, kind) => sum + row[`${kind}_blocked`], 0);
}

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
