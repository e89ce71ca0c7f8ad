import type { Cause } from '@tollkeeper/contracts';
import { AppError, startSlices, type TenantId } from '@tollkeeper/kernel';
import { baseModel } from '@tollkeeper/prices';
import type { CostFile, CostFormat, CostRow } from './cost.file.ts';
import { addUsd, toMicros, type Usd } from './usd.ts';

/** What a provider charges and what Tollkeeper counted, in USD micros. What is charged may be negative: credits. */
export interface Compared {
  chargedMicros: number;
  countedMicros: number;
}

/** A UTC day of a model, by the name that both sides have in common. */
interface ComparedCell extends Compared {
  day: string;
  model: string;
}

export interface Comparison extends Compared {
  /** The first and the last day of the file. */
  from: string;
  to: string;
  cells: readonly ComparedCell[];
  /** What Tollkeeper counted in this time for models that the file does not have. They are in no sum. */
  onlyCounted: readonly { model: string; micros: number }[];
}

/** A comparison that is kept. */
export interface Reconciliation extends Comparison {
  id: string;
  /** What its file was called; empty if that is unknown. */
  fileName: string;
  format: CostFormat;
  createdAt: Date;
  /** Id of the user. */
  createdBy: string;
}

export type ReconciliationHead = Omit<Reconciliation, 'cells' | 'onlyCounted'>;

/** Comparisons of a workspace. Older ones are deleted when another one is added. */
export const MAX_KEPT = 100;

export interface ReconciliationStore {
  add(
    tenantId: TenantId,
    report: Comparison & Pick<Reconciliation, 'fileName' | 'format'>,
    cause: Cause,
  ): Promise<Reconciliation>;
  /** All that are kept, newest first. */
  list(tenantId: TenantId): Promise<ReconciliationHead[]>;
  find(tenantId: TenantId, id: string): Promise<Reconciliation | null>;
}

/** What Tollkeeper counted for a model, by UTC day of the file, from the first on. */
export interface CountedModel {
  /** Null for calls that name none. */
  model: string | null;
  micros: ArrayLike<number>;
}

/** The days of a file, from the first to the last. */
export function daysOf({ rows }: CostFile): string[] {
  const sorted = rows.map(({ day }) => day).sort();
  const days: string[] = [];
  const last = Date.parse(sorted.at(-1)!);
  for (let at = Date.parse(sorted[0]!); at <= last; at += DAY_MS) days.push(new Date(at).toISOString().slice(0, 10));
  return days;
}

const DAY_MS = 86_400_000;

/** Days and models of a report, which a document of MongoDB has room for. */
const MAX_REPORT_CELLS = 40_000;

/**
 * Compares what a file charges with what was counted, by model and day, in slices. Names of models match without their
 * dates. Rejects with `invalid_request` if the report would be too large.
 */
export async function compare(
  { rows }: CostFile,
  days: readonly string[],
  counted: readonly CountedModel[],
): Promise<Comparison> {
  const slices = startSlices();
  const charged = new Map<string, Map<string, Usd>>();
  for (const { day, model, usd } of rows) {
    if (slices.usedUp()) await slices.next();
    const name = baseModel(model);
    const byDay = charged.get(name) ?? new Map<string, Usd>();
    byDay.set(day, addUsd(byDay.get(day) ?? 0n, usd));
    charged.set(name, byDay);
  }
  const own = new Map<string, number[]>();
  for (const { model, micros } of counted) {
    if (slices.usedUp()) await slices.next();
    const name = baseModel(model ?? '');
    const known = own.get(name) ?? days.map(() => 0);
    days.forEach((_, index) => (known[index]! += micros[index] ?? 0));
    own.set(name, known);
  }
  const cells: ComparedCell[] = [];
  for (const [model, byDay] of charged) {
    if (slices.usedUp()) await slices.next();
    cells.push(...cellsOf(model, days, byDay, own.get(model)));
    if (cells.length > MAX_REPORT_CELLS) throw tooManyCells();
  }
  const onlyCounted = [...own]
    .filter(([model]) => !charged.has(model))
    .map(([model, micros]) => ({ model, micros: sum(micros) }))
    .filter(({ micros }) => micros > 0);
  return {
    from: days[0]!,
    to: days.at(-1)!,
    // Rounded once, so that it is what the provider's own sum is.
    chargedMicros: toMicros(rows.reduce((total, { usd }: CostRow) => addUsd(total, usd), 0n)),
    countedMicros: sum(cells.map(({ countedMicros }) => countedMicros)),
    cells,
    onlyCounted,
  };
}

function cellsOf(
  model: string,
  days: readonly string[],
  charged: ReadonlyMap<string, Usd>,
  counted: readonly number[] | undefined,
): ComparedCell[] {
  return days.flatMap((day, index) => {
    const usd = charged.get(day);
    const countedMicros = counted?.[index] ?? 0;
    if (usd === undefined && countedMicros === 0) return [];
    return { day, model, chargedMicros: toMicros(usd ?? 0n), countedMicros };
  });
}

function tooManyCells(): AppError {
  const message = `must have at most ${MAX_REPORT_CELLS} days of models, counted ones included. Export a shorter time`;
  return new AppError('invalid_request', `The file ${message}.`, { details: [{ path: 'body', message }] });
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
