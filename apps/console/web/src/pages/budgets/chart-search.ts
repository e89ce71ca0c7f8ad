/** Whether a chart of a day or month so far adds the spend up. Without it, it does if there is a limit. */
export const CHART_KINDS = ['cumulative', 'interval'] as const;
export type ChartKind = (typeof CHART_KINDS)[number];

export interface ChartSearch {
  chart?: ChartKind;
}

export function parseChartSearch(search: Record<string, unknown>): ChartSearch {
  const chart = CHART_KINDS.find((each) => each === search['chart']);
  return chart === undefined ? {} : { chart };
}
