import { setTimeout as delay } from 'node:timers/promises';
import { type Attack, HELD_MS } from './attack.ts';
import { CONNECTION_ATTACKS } from './connection.attacks.ts';
import { EVENT_ATTACKS } from './event.attacks.ts';
import { REQUEST_ATTACKS } from './request.attacks.ts';
import { TELEMETRY_ATTACKS } from './telemetry.attacks.ts';

/** What the watchers alone cost, to compare the attacks with. */
const NO_ATTACK: Attack = {
  name: 'no attack',
  strike: async (_sender, others) => {
    await Promise.allSettled([others, delay(HELD_MS)]);
    return new Map();
  },
};

/** All attacks of one sender against the others, in order. */
export const ATTACKS: readonly Attack[] = [
  NO_ATTACK,
  ...CONNECTION_ATTACKS,
  ...EVENT_ATTACKS,
  ...TELEMETRY_ATTACKS,
  ...REQUEST_ATTACKS,
];
