import { beforeEach, expect, it } from '@jest/globals';
import { AppError } from '@tollkeeper/kernel';
import type { Decision } from '../domain/enforcement.ts';
import type { Reservation } from '../domain/reservation.ts';
import { askAll, type AskAllDeps } from './ask.all.ts';

interface Asked {
  verb: string;
  id: string;
}

const asked = (...ids: string[]): Asked[] => ids.map((id) => ({ verb: 'reserve', id }));
const denied = { decision: 'denied' } as Extract<Decision, { decision: 'denied' }>;
const reservationOf = (id: string) => ({ id }) as Reservation;
const allowed = (reservation: Reservation | null): Decision => ({ decision: 'allowed', reservation, limits: [] });

/** What is held, and what happens when one of these is asked for, after it was looked at. */
let held: Set<string>;
let onAsk: Map<string, () => Decision>;
let onLook: Map<string, Decision>;
let isLate: () => boolean;
let release: (id: string) => Promise<unknown>;

const deps: AskAllDeps<Asked> = {
  async decide({ id }, { dryRun }) {
    if (dryRun) return onLook.get(id) ?? allowed(held.has(id) ? reservationOf(id) : null);
    const decision = onAsk.get(id)?.() ?? allowed(reservationOf(id));
    if (decision.decision === 'allowed') held.add(id);
    return decision;
  },
  release: (id) => release(id),
  isLate: () => isLate(),
};

beforeEach(() => {
  held = new Set();
  onAsk = new Map();
  onLook = new Map();
  isLate = () => false;
  release = async (id) => held.delete(id);
});

it('all are granted, and the answer has the reservation of the first', async () => {
  expect(await askAll(asked('a', 'b'), deps)).toEqual({ reservation: { id: 'a' } });
  expect([...held]).toEqual(['a', 'b']);
});

it('one that is denied after others were granted gives them back, even if one of them cannot be', async () => {
  onAsk.set('c', () => denied);
  release = async (id) => {
    if (id === 'a') throw new AppError('conflict', 'It is settled.');
    held.delete(id);
  };
  expect(await askAll(asked('a', 'b', 'c'), deps)).toMatchObject({ denied: { id: 'c' } });
  expect([...held]).toEqual(['a']);
});

it('one that would be denied, but fits when it is asked for, is given back as well if another does not', async () => {
  onLook.set('a', denied);
  onAsk.set('b', () => denied);
  expect(await askAll(asked('a', 'b'), deps)).toMatchObject({ denied: { id: 'b' } });
  expect([...held]).toEqual([]);
});

it('a repeated request that fails keeps what earlier ones were granted', async () => {
  held.add('a');
  onAsk.set('c', () => {
    throw new AppError('service_unavailable', 'The database is down.');
  });
  await expect(askAll(asked('a', 'b', 'c'), deps)).rejects.toMatchObject({ message: 'The database is down.' });
  expect([...held]).toEqual(['a']);
});

it.each([0, 1, 2])('an answer that is late after %i grants holds nothing', async (grants) => {
  isLate = () => held.size >= grants;
  await expect(askAll(asked('a', 'b'), deps)).rejects.toMatchObject({ code: 'service_unavailable' });
  expect([...held]).toEqual([]);
});

it('a single call that was granted late stays granted, since an earlier request may have been answered', async () => {
  isLate = () => held.size > 0;
  await askAll(asked('a'), deps);
  expect([...held]).toEqual(['a']);
});
