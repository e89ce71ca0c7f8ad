const SERIES = ['var(--c1)', 'var(--c2)', 'var(--c3)', 'var(--c4)', 'var(--c5)'] as const;

/** Colors of series in their order; the rest has {@link REST_COLOUR}. */
export function colourOf(index: number): string {
  return SERIES[index % SERIES.length] ?? REST_COLOUR;
}

export const REST_COLOUR = 'var(--c-rest)';
