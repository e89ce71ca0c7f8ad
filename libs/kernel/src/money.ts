/** Largest amount of USD micros that Tollkeeper takes: the largest integer a JSON number carries exactly. */
export const MAX_MICROS = Number.MAX_SAFE_INTEGER;

export const MICROS_PER_USD = 1_000_000;

/** Rounds to 2 decimals, half away from zero, as every percentage and average of the API is. */
export function roundTo2(value: number): number {
  const rounded = Math.round(Math.abs(value) * 100 + Number.EPSILON) / 100;
  return value < 0 ? -rounded : rounded;
}
