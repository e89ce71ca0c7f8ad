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
import { DownloadCsv } from '../ui/download-csv.tsx';
import { CardTools, Skeleton } from '../ui/parts.tsx';
import { Table } from '../ui/table.tsx';
import css from './charts.module.css';
import { type BarPoint, type ChartNumbers, highestOf, totalOf } from './bars.ts';
import { LimitLine, Projection } from './limit-line.tsx';
import { tableOf } from './numbers.table.ts';
import { BOTTOM, LEFT, MARK, type Scale, scaleOf, TOP } from './scale.ts';
import { labelled } from './ticks.ts';

export interface StackedBarsProps extends ChartNumbers {
  /** Format on the axis. */
  short: (value: number) => string;
  /** An instant to mark, such as when a budget was used up. */
  mark?: { index: number; text: string } | undefined;
  height?: number;
}

/** Upper estimate of the width of a letter on the axes. */
const LETTER = 6;

/** Stacked bars for mouse, touch and keyboard, and the same numbers as a table. */
export function StackedBars(props: StackedBarsProps) {
  const { label, series, points, height = 250 } = props;
  const [asTable, setAsTable] = useState(false);
  const table = tableOf(props);
  const named = series.length > 1;
  return (
    <figure className={css['chart']}>
      {asTable ? (
        <div className={css['tableBox']} style={{ height }} role="region" aria-label={label} tabIndex={0}>
          {/* The chart has the file at its foot. */}
          <CardTools value={null}>
            <Table {...table} />
          </CardTools>
        </div>
      ) : (
        <Plot {...props} height={height} />
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
          {points.some(({ projected }) => projected !== undefined) && (
            <span>
              <i className={css['dashes']} />
              {text.common.chart.projected}
            </span>
          )}
        </div>
        <div className={css['tools']}>
          <DownloadCsv {...table} />
          <button type="button" className={css['toggle']} onClick={() => setAsTable(!asTable)}>
            {asTable ? text.common.chart.showChart : text.common.chart.showTable}
          </button>
        </div>
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

function Plot({ label, series, points, short, exact, mark, limit, height = 250 }: StackedBarsProps) {
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
  const highest = highestOf({ points, limit });
  const scale = scaleOf({ points: points.length, highest, width, height, hasMark: mark !== undefined });

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
        {width > 0 && <Projection {...{ points, scale }} />}
        {mark !== undefined && width > 0 && <Mark at={scale.x(mark.index)} text={mark.text} {...{ width, height }} />}
        {limit !== undefined && width > 0 && <LimitLine {...{ limit, scale }} />}
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
          <Tip point={shown} {...{ series, limit, exact }} place={tipPlace(active, points.length, scale)} />
        )}
      </div>
    </div>
  );
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

interface TipProps extends Pick<StackedBarsProps, 'series' | 'limit' | 'exact'> {
  point: BarPoint;
  place: CSSProperties;
}

function Tip({ point, series, limit, exact, place }: TipProps) {
  return (
    <div className={css['tip']} style={place}>
      <strong>{point.title}</strong>
      {point.running === true && ` (${text.common.chart.running})`}
      <dl>
        {point.values.length > 0 &&
          series.map(({ key, name, colour }, part) => (
            <Line key={key} name={name} colour={colour} value={exact(point.values[part] ?? 0)} />
          ))}
        {limit !== undefined && series.length > 1 && point.values.length > 0 && (
          <Line name={text.common.chart.total} value={exact(totalOf(point))} />
        )}
        {point.projected !== undefined && <Line name={text.common.chart.projected} value={exact(point.projected)} />}
        {limit !== undefined && <Line name={limit.text} value={exact(limit.value)} />}
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

function Line({ name, colour, value }: { name: string; colour?: string; value: string }) {
  return (
    <>
      <dt>
        {colour !== undefined && <i className={css['swatch']} style={{ background: colour }} />}
        {name}
      </dt>
      <dd>{value}</dd>
    </>
  );
}
