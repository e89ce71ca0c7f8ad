import type { Api } from '@tollkeeper/client';
import { type LabelSearch, parseLabel } from '../../app/label-search.ts';

export type BlockedKind = keyof Api.Overview['blocked'];

/** The kinds of blocked calls in the order of the page. The first one is the default. */
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

/** The page's URL besides its span: the kind, the agent or the label of the calls, and what is in the drawer. */
export type BlockedSearch = LabelSearch & {
  kind?: BlockedKind;
  agent?: string;
  event?: string;
  run?: string;
};

const AGENT = /^[A-Za-z0-9._:-]{1,128}$/;

export function parseBlockedSearch(search: Record<string, unknown>): BlockedSearch {
  const { kind, agent, event, run } = search;
  return {
    // The API filters by one of them.
    ...(typeof agent === 'string' && AGENT.test(agent) ? { agent } : parseLabel(search)),
    ...kindInAddress(BLOCKED_KINDS.find((known) => known === kind)),
    ...(typeof event === 'string' && { event }),
    ...(typeof run === 'string' && { run }),
  };
}

/** The kind as part of the URL. */
export function kindInAddress(kind: BlockedKind | undefined): Pick<BlockedSearch, 'kind'> {
  return kind === undefined || kind === SHOWN_FIRST ? {} : { kind };
}
