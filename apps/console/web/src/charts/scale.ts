import { steps } from './ticks.ts';

/** Room in pixels for the labels beside the plot. */
export const LEFT = 52;
export const TOP = 12;
export const BOTTOM = 24;
/** Height of the label of a mark. */
export const MARK = 14;

export interface Scale {
  width: number;
  height: number;
  /** Values of the grid lines; none if every value is 0. */
  grid: readonly number[];
  /** Widths of a point's share of the plot, and of its bar. */
  slot: number;
  bar: number;
  /** Left edge of a point's bar. */
  x: (index: number) => number;
  y: (value: number) => number;
}

interface ScaleOptions extends Pick<Scale, 'width' | 'height'> {
  /** Number of points. */
  points: number;
  /** The largest value to draw. */
  highest: number;
  hasMark: boolean;
}

export function scaleOf({ points, highest, width, height, hasMark }: ScaleOptions): Scale {
  const grid = steps(highest, 4);
  // The label of the mark is above all bars.
  const top = hasMark ? TOP + MARK : TOP;
  const slot = points === 0 ? 0 : Math.max(0, width - LEFT) / points;
  const bar = Math.max(1, slot - Math.min(5, slot * 0.2));
  return {
    ...{ width, height, grid, slot, bar },
    x: (index) => LEFT + index * slot + (slot - bar) / 2,
    y: (value) => height - BOTTOM - (value / (grid.at(-1) ?? 1)) * (height - BOTTOM - top),
  };
}
