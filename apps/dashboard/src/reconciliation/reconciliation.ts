import type { Cause } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';
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

export interface ReconciliationStore {
  add(
    tenantId: TenantId,
    report: Comparison & Pick<Reconciliation, 'fileName' | 'format'>,
    cause: Cause,
  ): Promise<Reconciliation>;
  /** The newest, newest first. */
  list(tenantId: TenantId, limit: number): Promise<ReconciliationHead[]>;
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

/** Compares what a file charges with what was counted, by model and day. Names of models match without their dates. */
export function compare({ rows }: CostFile, days: readonly string[], counted: readonly CountedModel[]): Comparison {
  const charged = new Map<string, Map<string, Usd>>();
  for (const { day, model, usd } of rows) {
    const name = baseModel(model);
    const byDay = charged.get(name) ?? new Map<string, Usd>();
    byDay.set(day, addUsd(byDay.get(day) ?? 0n, usd));
    charged.set(name, byDay);
  }
  const own = new Map<string, number[]>();
  for (const { model, micros } of counted) {
    const name = baseModel(model ?? '');
    const known = own.get(name) ?? days.map(() => 0);
    days.forEach((_, index) => (known[index]! += micros[index] ?? 0));
    own.set(name, known);
  }
  const cells: ComparedCell[] = [];
  for (const [model, byDay] of charged) {
    const ofModel = own.get(model);
    for (const [index, day] of days.entries()) {
      const usd = byDay.get(day);
      const countedMicros = ofModel?.[index] ?? 0;
      if (usd === undefined && countedMicros === 0) continue;
      cells.push({ day, model, chargedMicros: toMicros(usd ?? 0n), countedMicros });
    }
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

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
