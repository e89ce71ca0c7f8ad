import { text } from '../text/index.ts';

const FIXED = ['agent', 'model', 'plan'] as const;
const LABEL = /^label:([a-z][a-z0-9_.-]{0,31})$/;

/** What spend is divided by: `label:team` for the label `team`. */
export type Division = (typeof FIXED)[number] | `label:${string}`;

/** All divisions of a workspace that tracks these labels. */
export function divisionsOf(labels: readonly string[]): Division[] {
  return [...FIXED, ...labels.map((name) => `label:${name}` as const)];
}

export function isDivision(by: unknown): by is Division {
  return typeof by === 'string' && (FIXED.some((known) => known === by) || LABEL.test(by));
}

/** The label whose values are the groups of the division; null for another one. */
export function labelOf(by: string): string | null {
  return LABEL.exec(by)?.[1] ?? null;
}

/** The name of a division, of its groups, and of the group of those that name none. */
export function wordsOf(by: string): { name: string; groups: string; none: string } {
  const fixed = FIXED.find((known) => known === by);
  return fixed === undefined ? text.spend.label(labelOf(by) ?? by) : text.spend.division[fixed];
}
