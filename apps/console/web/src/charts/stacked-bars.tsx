import {
  type CSSProperties,
  type KeyboardEvent,
  type PointerEvent,
  type ReactNode,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { text } from '../text/index.ts';
import { Skeleton } from '../ui/parts.tsx';
import { Table } from '../ui/table.tsx';
import css from './charts.module.css';
import { labelled, steps } from './ticks.ts';

export interface Series {
  key: string;
  name: string;
  colour: string;
}

export interface BarPoint {
  key: string;
  /** Label on the axis. */
  label: string;
  /** Label in the tooltip and the table: exact, and unambiguous when the clocks change. */
  title: string;
  /** One for each series, from the bottom up. */
  values: readonly number[];
  /** Whether the point has not ended yet. */
  running?: boolean;
}

export interface StackedBarsProps {
  /** Description of the chart in a sentence. */
  label: string;
  series: readonly Series[];
  points: readonly BarPoint[];
  /** Format on the axis. */
  short: (value: number) => string;
  /** Format in the tooltip and the table. */
  exact: (value: number) => string;
  /** An instant to mark, such as when a budget was used up. */
  mark?: { index: number; text: string } | undefined;
  height?: number;
}

const LEFT = 52;
const TOP = 12;
const BOTTOM = 24;
/** Height of the label of a mark. */
const MARK = 14;
/** Upper estimate of the width of a letter on the axes. */
const LETTER = 6;

/** Stacked bars for mouse, touch and keyboard, and the same numbers as a table. */
export function StackedBars({ label, series, points, short, exact, mark, height = 250 }: StackedBarsProps) {
  const [asTable, setAsTable] = useState(false);
  const named = series.length > 1;
  return (
    <figure className={css['chart']}>
      {asTable ? (
        <div className={css['tableBox']} style={{ height }} role="region" aria-label={label} tabIndex={0}>
          <Table
            label={label}
            rows={points.toReversed()}
            rowKey={(point) => point.key}
            columns={[
              { key: 'from', head: text.common.chart.from, cell: (point) => point.title },
              ...series.map(({ key, name }, index) => ({
                key,
                head: name,
                align: 'right' as const,
                cell: (point: BarPoint) => exact(point.values[index] ?? 0),
              })),
            ]}
          />
        </div>
      ) : (
        <Plot {...{ label, series, points, short, exact, mark, height }} />
      )}
      <div className={css['foot']}>
        <div className={css['legend']} data-named={named} aria-hidden={asTable}>
          {named &&
            series.map(({ key, name, colour }) => (
              <span key={key} title={name}>
                <i className={css['swatch']} style={{ background: colour }} />
                {name}
              </span>
            ))}
        </div>
        <button type="button" className={css['toggle']} onClick={() => setAsTable(!asTable)}>
          {asTable ? text.common.chart.showChart : text.common.chart.showTable}
        </button>
      </div>
    </figure>
  );
}

/** As high as the chart that is loading. */
export function ChartSpace({ height = 250, named = false }: { height?: number; named?: boolean }) {
  return (
    <div className={css['chart']}>
      <Skeleton height={height} />
      <div className={css['foot']}>
        <div className={css['legend']} data-named={named} />
        <span className={css['toggle']}>&nbsp;</span>
      </div>
    </div>
  );
}

function Plot({ label, series, points, short, exact, mark, height = 250 }: StackedBarsProps) {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const [active, setActive] = useState<number | null>(null);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const watch = new ResizeObserver(() => setWidth(element.clientWidth));
    setWidth(element.clientWidth);
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  const scale = scaleOf({ points, width, height, hasMark: mark !== undefined });

  function onKeyDown(event: KeyboardEvent): void {
    const last = points.length - 1;
    const from = active ?? (event.key === 'ArrowLeft' ? last + 1 : -1);
    const to = { ArrowRight: from + 1, ArrowLeft: from - 1, Home: 0, End: last }[event.key];
    if (event.key === 'Escape') setActive(null);
    if (to === undefined || last < 0) return;
    event.preventDefault();
    setActive(Math.min(last, Math.max(0, to)));
  }

  const shown = active === null ? undefined : points[active];
  return (
    <div
      ref={box}
      className={css['plot']}
      style={{ height }}
      tabIndex={0}
      role="group"
      aria-roledescription={text.common.chart.what}
      aria-label={`${label}. ${text.common.chart.help}`}
      onKeyDown={onKeyDown}
      onBlur={() => setActive(null)}
      onPointerLeave={(event) => hasMoved(event) && setActive(null)}
    >
      <svg height={height} aria-hidden="true">
        <Axes {...{ points, short, scale }} />
        {points.map((point, index) => (
          <Bar key={point.key} {...{ point, series, index, scale }} />
        ))}
        {mark !== undefined && width > 0 && <Mark at={scale.x(mark.index)} text={mark.text} {...{ width, height }} />}
        {points.map((point, index) => (
          <rect
            key={point.key}
            className={css['hit']}
            data-active={index === active}
            x={LEFT + index * scale.slot}
            y={TOP}
            width={scale.slot}
            height={height - BOTTOM - TOP}
            onPointerMove={(event) => hasMoved(event) && setActive(index)}
            onPointerDown={({ currentTarget, pointerId }) => {
              // A touch keeps the bar where it started until the finger is lifted.
              currentTarget.releasePointerCapture(pointerId);
              setActive(index);
            }}
          />
        ))}
      </svg>
      {scale.grid.length === 0 && <span className={css['empty']}>{text.common.chart.empty}</span>}
      <div aria-live="polite">
        {shown !== undefined && active !== null && (
          <Tip point={shown} {...{ series, exact }} place={tipPlace(active, points.length, scale)} />
        )}
      </div>
    </div>
  );
}

interface Scale {
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
  points: readonly BarPoint[];
  hasMark: boolean;
}

function scaleOf({ points, width, height, hasMark }: ScaleOptions): Scale {
  const grid = steps(Math.max(0, ...points.map(({ values }) => values.reduce((sum, value) => sum + value, 0))), 4);
  // The label of the mark is above all bars.
  const top = hasMark ? TOP + MARK : TOP;
  const slot = points.length === 0 ? 0 : Math.max(0, width - LEFT) / points.length;
  const bar = Math.max(1, slot - Math.min(5, slot * 0.2));
  return {
    ...{ width, height, grid, slot, bar },
    x: (index) => LEFT + index * slot + (slot - bar) / 2,
    y: (value) => height - BOTTOM - (value / (grid.at(-1) ?? 1)) * (height - BOTTOM - top),
  };
}

function Axes({ points, short, scale }: Pick<StackedBarsProps, 'points' | 'short'> & { scale: Scale }) {
  const { width, height, grid, x, y } = scale;
  return (
    <>
      {grid.map((value) => (
        <g key={value}>
          <line className={css['grid']} x1={LEFT} x2={width} y1={y(value)} y2={y(value)} />
          <text x={LEFT - 8} y={y(value) + 4} textAnchor="end">
            {short(value)}
          </text>
        </g>
      ))}
      {width > 0 &&
        labelled(points.length, Math.max(2, (width - LEFT) / 72))
          .map((index) => ({ at: x(index), label: points[index]?.label ?? '' }))
          .filter(({ at, label }) => at + label.length * LETTER <= width)
          .map(({ at, label }) => (
            <text key={at} x={at} y={height - 6}>
              {label}
            </text>
          ))}
    </>
  );
}

interface BarProps extends Pick<StackedBarsProps, 'series'> {
  point: BarPoint;
  index: number;
  scale: Scale;
}

function Bar({ point, series, index, scale: { x, y, bar } }: BarProps) {
  const parts: ReactNode[] = [];
  let at = y(0);
  for (const [part, value] of point.values.entries()) {
    if (value === 0) continue;
    const size = Math.max(1, y(0) - y(value));
    at -= size;
    const gap = size > 3 ? 0.6 : 0;
    const { key, colour } = series[part] ?? { key: part, colour: 'var(--c-rest)' };
    parts.push(<rect key={key} x={x(index)} y={at} width={bar} height={size - gap} fill={colour} rx={1} />);
  }
  return <g opacity={point.running === true ? 0.7 : 1}>{parts}</g>;
}

/** Beside the bar, on the side with more room. */
function tipPlace(index: number, points: number, { width, slot, x }: Scale): CSSProperties {
  const most = Math.max(0, width - 160);
  if (index < points / 2) return { left: Math.min(x(index) + slot + 8, most) };
  return { right: Math.min(width - x(index) + 8, most) };
}

interface TipProps extends Pick<StackedBarsProps, 'series' | 'exact'> {
  point: BarPoint;
  place: CSSProperties;
}

function Tip({ point, series, exact, place }: TipProps) {
  return (
    <div className={css['tip']} style={place}>
      <strong>{point.title}</strong>
      {point.running === true && ` (${text.common.chart.running})`}
      <dl>
        {series.map(({ key, name, colour }, part) => (
          <Line key={key} name={name} colour={colour} value={exact(point.values[part] ?? 0)} />
        ))}
      </dl>
    </div>
  );
}

/** A line at an instant with its label: beside the line if there is room, else above it. */
function Mark({ at, text: said, width, height }: { at: number; text: string; width: number; height: number }) {
  const size = said.length * LETTER;
  const isBefore = at - 6 - size >= LEFT;
  const isAbove = !isBefore && at + 6 + size > width;
  const start = isAbove ? Math.max(LEFT, Math.min(at - size / 2, width - size)) : at + 6;
  return (
    <g className={css['mark']}>
      <line x1={at} x2={at} y1={isAbove ? TOP + MARK : TOP} y2={height - BOTTOM} />
      <text x={isBefore ? at - 6 : start} y={TOP + 10} textAnchor={isBefore ? 'end' : 'start'}>
        {said}
      </text>
    </g>
  );
}

/** False if the page has moved under a resting pointer, as when the keyboard scrolls it. */
function hasMoved({ movementX, movementY }: PointerEvent): boolean {
  return movementX !== 0 || movementY !== 0;
}

function Line({ name, colour, value }: { name: string; colour: string; value: string }) {
  return (
    <>
      <dt>
        <i className={css['swatch']} style={{ background: colour }} />
        {name}
      </dt>
      <dd>{value}</dd>
    </>
  );
}
