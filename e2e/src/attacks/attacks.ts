import type { Attack } from './attack.ts';
import { CONNECTION_ATTACKS } from './connection.attacks.ts';
import { EVENT_ATTACKS } from './event.attacks.ts';
import { REQUEST_ATTACKS } from './request.attacks.ts';

/** All attacks of one sender against the others, in order. */
export const ATTACKS: readonly Attack[] = [...CONNECTION_ATTACKS, ...EVENT_ATTACKS, ...REQUEST_ATTACKS];
