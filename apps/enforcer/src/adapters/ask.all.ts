import { tookTooLong } from '../domain/answer.time.ts';
import type { Decision } from '../domain/enforcement.ts';
import type { Reservation } from '../domain/reservation.ts';

type Denied = Extract<Decision, { decision: 'denied' }>;

const NONE: ReadonlySet<string> = new Set();

export interface AskAllDeps<Asked> {
  /** With `dryRun`, the reservation is null unless it was granted before. */
  decide(asked: Asked, options: { dryRun: boolean }): Promise<Decision>;
  release(id: string): Promise<unknown>;
  /** Whether nobody waits for the answer any more. */
  isLate(): boolean;
}

/**
 * Grants all or none. `denied` is the one that does not fit. If one is denied or fails, or all take too long, what was
 * granted is given back, except to earlier requests. What cannot be given back expires.
 */
export async function askAll<Asked extends { verb: string }>(
  all: readonly Asked[],
  { decide, release, isLate }: AskAllDeps<Asked>,
): Promise<{ denied: Asked; decision: Denied } | { denied?: undefined; reservation: Reservation | undefined }> {
  const { inOrder, earlier } = all.length > 1 ? await rehearse(all, decide) : { inOrder: all, earlier: NONE };
  const granted = new Map<Asked, Reservation>();
  const giveBack = () => {
    const ours = [...granted.values()].filter(({ id }) => !earlier.has(id));
    return Promise.allSettled(ours.map(({ id }) => release(id)));
  };
  try {
    for (const asked of inOrder) {
      if (isLate()) throw tookTooLong();
      const decision = await decide(asked, { dryRun: asked.verb === 'check' });
      if (decision.decision === 'denied') {
        await giveBack();
        return { denied: asked, decision };
      }
      if (decision.reservation !== null) granted.set(asked, decision.reservation);
    }
    if (all.length > 1 && isLate()) throw tookTooLong();
  } catch (error) {
    await giveBack();
    throw error;
  }
  const [first] = all.flatMap((asked) => granted.get(asked) ?? []);
  return { reservation: first };
}

/**
 * Looks at several before anything is held, so that a denied request can be repeated as it is: what would be denied
 * comes first. `earlier` has the reservations that were granted before.
 */
async function rehearse<Asked>(
  all: readonly Asked[],
  decide: AskAllDeps<Asked>['decide'],
): Promise<{ inOrder: readonly Asked[]; earlier: ReadonlySet<string> }> {
  const earlier = new Set<string>();
  const fitting: Asked[] = [];
  const others: Asked[] = [];
  for (const asked of all) {
    const decision = await decide(asked, { dryRun: true });
    const isAllowed = decision.decision === 'allowed';
    (isAllowed ? fitting : others).push(asked);
    if (isAllowed && decision.reservation !== null) earlier.add(decision.reservation.id);
  }
  return { inOrder: [...others, ...fitting], earlier };
}
