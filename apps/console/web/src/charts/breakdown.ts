import type { Api } from '../api/api.ts';
import { text } from '../text/index.ts';
import { colourOf, REST_COLOUR } from './colours.ts';
import type { Series } from './stacked-bars.tsx';

/** The series of a chart of `breakdown`: those that spent most, and the rest as one. */
export function seriesOf({ groups, others, by }: Api.SpendBreakdown): Series[] {
  const named = groups.map(({ key, display_name }, index) => ({
    key: key ?? '',
    name: display_name ?? key ?? text.spend.none[by],
    colour: colourOf(index),
  }));
  if (others === null) return named;
  return [...named, { key: 'others', name: text.common.chart.others(others.count), colour: REST_COLOUR }];
}
