/** Largest amount of USD micros that Tollkeeper takes: the largest integer a JSON number carries exactly. */
export const MAX_MICROS = Number.MAX_SAFE_INTEGER;

/** `value`, which is not negative, rounded to 2 decimals, as every percentage and average of the API is. */
export function roundTo2(value: number): number {
  return Math.round(value * 100) / 100;
}
