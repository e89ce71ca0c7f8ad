/** The value below which `percent` of the values lie (nearest rank); NaN without values. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? NaN;
}

export function median(values: readonly number[]): number {
  return percentile(values, 50);
}

/** `12345.6` as `12,346`. */
export function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}
