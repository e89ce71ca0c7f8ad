import { constants, setPriority } from 'node:os';
import type { Pause } from '../machine.pauses.ts';
import { announce } from './announce.ts';

/** Longer than the kernel takes to run a process of the highest priority again while others are busy. */
const PAUSE_MS = 8;

// A process that only sleeps. Whenever it slept far too long, the machine itself stood still.
setPriority(constants.priority.PRIORITY_HIGHEST);
let pauses: Pause[] = [];
let last = performance.now();
setInterval(() => {
  const now = performance.now();
  if (now - last > PAUSE_MS) pauses.push({ from: performance.timeOrigin + last, to: performance.timeOrigin + now });
  last = now;
}, 1);
process.on('message', () => {
  process.send?.(pauses);
  pauses = [];
});
announce('ready');
