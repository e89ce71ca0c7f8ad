export { type Fleet, type FleetOptions, startFleet } from './fleet.ts';
export { NODE_FLAGS } from './node.flags.ts';
export type { Replica } from './replica.ts';
