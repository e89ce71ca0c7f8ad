import type { Api } from '../api/api.ts';
import { text } from '../text/index.ts';
import { wordsOf } from './division.ts';
import { colourOf, REST_COLOUR } from './colours.ts';
import type { Series } from './bars.ts';

/** The series of a `breakdown` chart: the groups that spent most, and all others as one. */
export function seriesOf({ groups, others, by }: Api.SpendBreakdown): Series[] {
  const named = groups.map((group, index) => ({
    key: keyOf(group),
    name: nameOf(group, by),
    colour: colourOf(index),
  }));
  if (others === null) return named;
  return [...named, { key: 'others', name: text.common.chart.others(others.count), colour: REST_COLOUR }];
}

type Group = Pick<Api.SpendBreakdown['groups'][number], 'key' | 'display_name' | 'other'>;

/** Unique among the groups, including those without a name. */
export function keyOf({ key, other }: Group): string {
  return key ?? (other ? ' other' : '');
}

export function nameOf({ key, display_name, other }: Group, by: Api.SpendBreakdown['by']): string {
  return display_name ?? key ?? (other ? text.spend.other : wordsOf(by).none);
}
