import { roomFor } from '@tollkeeper/kernel';
import { LRUCache } from 'lru-cache';

/** An attempt is slow after this time. Its channel stays slow until one of its attempts is quick. */
export const SLOW_MS = 2000;
const REMEMBERED_CHANNELS = 10_000;

/** The resources of a channel with an attempt in progress. */
export interface Place {
  pace: 'quick' | 'slow';
}

/**
 * There are as many places for slow attempts as for quick ones. An attempt that turns out to be slow gives its quick
 * place back while it runs. So no quick place is occupied for longer than {@link SLOW_MS}, however many destinations
 * hang.
 */
export interface Places {
  /** The channels in order of their turns: the one that has waited longest is first. */
  inTurn(channelIds: readonly string[]): string[];
  /** Whether a place for the pace of the channel is free. */
  hasRoom(channelId: string): boolean;
  take(channelId: string): Place;
  /** Returns whether that has freed a quick place. */
  becomeSlow(place: Place): boolean;
  giveBack(channelId: string, place: Place): void;
  /** Records how long an attempt of the channel took. */
  noteDuration(channelId: string, durationMs: number): void;
}

/** `each` is the number of places per pace. */
export function createPlaces(each: number): Places {
  const taken = { quick: 0, slow: 0 };
  const slowChannels = new LRUCache<string, true>(roomFor(REMEMBERED_CHANNELS));
  /** Counts the returned places. Each channel keeps the number of its last return. */
  let turn = 0;
  const lastTurns = new LRUCache<string, number>(roomFor(REMEMBERED_CHANNELS));
  const paceOf = (channelId: string): Place['pace'] => (slowChannels.has(channelId) ? 'slow' : 'quick');
  const lastTurn = (channelId: string): number => lastTurns.peek(channelId) ?? 0;

  return {
    inTurn: (channelIds) => channelIds.toSorted((one, other) => lastTurn(one) - lastTurn(other)),
    hasRoom: (channelId) => taken[paceOf(channelId)] < each,
    take(channelId) {
      const pace = paceOf(channelId);
      taken[pace] += 1;
      return { pace };
    },
    becomeSlow(place) {
      if (place.pace === 'slow') return false;
      taken.quick -= 1;
      taken.slow += 1;
      place.pace = 'slow';
      return true;
    },
    giveBack(channelId, { pace }) {
      taken[pace] -= 1;
      lastTurns.set(channelId, (turn += 1));
    },
    noteDuration(channelId, durationMs) {
      if (durationMs > SLOW_MS) slowChannels.set(channelId, true);
      else slowChannels.delete(channelId);
    },
  };
}
