/** Largest amount of USD micros that Tollkeeper accepts: the largest integer that JSON numbers carry exactly. */
export const MAX_MICROS = Number.MAX_SAFE_INTEGER;

/** Rounds the non-negative `value` to 2 decimals, like every percentage and average of the API. */
export function roundTo2(value: number): number {
  return Math.round(value * 100) / 100;
}
