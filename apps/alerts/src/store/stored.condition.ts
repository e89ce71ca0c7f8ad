import type { RuleKind } from '@tollkeeper/contracts';
import type { mongo } from 'mongoose';
import type { SavedBurn, SavedCondition, SavedForecast, SavedSeries } from '../domain/condition.ts';
import type { Span } from '../domain/coverage.ts';
import type { SavedHistory } from '../domain/rule.history.ts';
import { type EntryForm, FIELDS, joinParts, type SavedSum } from '../domain/saved-sum.ts';
import type { SavedSteps } from '../domain/saved-steps.ts';
import { fromBinary, stepPieceIds, type StoredSteps, toBinary, toSteps } from './step.pieces.ts';

export interface StoredWindow {
  /** Id of the rule. */
  _id: string;
  tenantId: string;
  partition: number;
  revision: number;
  lastFiredAt: Date | null;
  metUntil: Date | null;
  kind: RuleKind;
  /** The form of the entries and parts; only of sums. */
  form?: EntryForm;
  /** Only of sums: the sum consists of the newest `size` of the stored entries. */
  size?: number;
  /** Only of sums: see `SavedSum`. */
  stagger?: number;
  shareAt?: number;
  /** The entries at the last whole save. */
  entries?: mongo.Binary;
  /** Additions of later saves, in the same form. */
  parts?: mongo.Binary[];
  /** Instead of `entries` and `parts`, if the entries are many or shared: the number of entries stored in pieces. */
  stored?: number;
  /** Id of the pieces, if several windows share them; otherwise they have the id of the rule. */
  sharedAs?: string;
  sampleIds: string[];
  spans: Span[];
  /** Only of conditions with sums by step of time, which are stored in pieces of their own. */
  steps?: StoredSteps;
  /** Only of `burn_rate_gte`. */
  burn?: Pick<SavedBurn, 'terms' | 'met'>;
  /** Only of `forecast_gte`. */
  forecast?: Pick<SavedForecast, 'terms' | 'since'> & { series: StoredSeries[] };
  decisions: SavedHistory['decisions'];
  minutes: SavedHistory['minutes'];
}

type StoredSeries = Omit<SavedSeries, 'parts'> & { parts: mongo.Binary };

/**
 * Entries that are stored apart from their window, {@link PIECE_ENTRIES} in each piece but the last. So a save that
 * adds a few entries writes little, however many there are. Pieces beyond the window's `stored` are leftovers until new
 * ones replace them.
 */
export interface StoredPiece {
  /** Id of the rule or of the shared sum, and number of the piece. */
  _id: string;
  tenantId: string;
  /** The additions of each save; of sums by step, one part with all of them. */
  parts: mongo.Binary[];
  /** Only of sums by step: the names of the series. */
  names?: string[];
  /** Only if windows share it. MongoDB deletes it then, because no rule owns it. */
  expiresAt?: Date;
}

/** About 16 kB. MongoDB writes pages of 32 kB. */
export const PIECE_ENTRIES: Record<EntryForm, number> = { unit: 1024, count: 683, amount: 512 };

/** The ids of the pieces that belong to the window. */
export function pieceIds(window: StoredWindow): string[] {
  return [...entryPieceIds(window), ...(window.steps ? stepPieceIds(window._id, window.steps) : [])];
}

function entryPieceIds({ _id, form, stored = 0, sharedAs = _id }: StoredWindow): string[] {
  const count = form === undefined ? 0 : Math.ceil(stored / PIECE_ENTRIES[form]);
  return Array.from({ length: count }, (_, piece) => pieceId(sharedAs, piece));
}

/** `owner`: id of the rule or of the shared sum. */
export function pieceId(owner: string, piece: number): string {
  return `${owner}/${piece}`;
}

/** The sum of a window whose kind has one, else null. */
export function sumOf(condition: SavedCondition): SavedSum | null {
  switch (condition.kind) {
    case 'first_occurrence':
      return null;
    case 'event_count_gte':
    case 'spend_gte':
    case 'deviation_gte':
    case 'burn_rate_gte':
    case 'forecast_gte':
      return condition.sum;
  }
}

/** The sums by step of a window whose kind has them, else null. */
export function stepsOf(condition: SavedCondition): SavedSteps | null {
  switch (condition.kind) {
    case 'first_occurrence':
    case 'event_count_gte':
    case 'spend_gte':
      return null;
    case 'deviation_gte':
    case 'burn_rate_gte':
    case 'forecast_gte':
      return condition.steps;
  }
}

type StoredParts = Pick<StoredWindow, 'sampleIds' | 'spans' | 'steps' | 'burn' | 'forecast'>;

export function fromCondition(condition: SavedCondition): StoredParts {
  switch (condition.kind) {
    case 'first_occurrence':
      return { sampleIds: [], spans: condition.spans };
    case 'event_count_gte':
    case 'spend_gte':
      return { sampleIds: condition.sum.sampleIds, spans: [] };
    case 'deviation_gte':
      return fromSteps(condition);
    case 'burn_rate_gte': {
      const { terms, met } = condition;
      return { ...fromSteps(condition), burn: { terms, met } };
    }
    case 'forecast_gte': {
      const { terms, since } = condition;
      const series = condition.series.map(({ parts, ...fields }) => ({ ...fields, parts: toBinary(parts) }));
      return { ...fromSteps(condition), forecast: { terms, since, series } };
    }
  }
}

function fromSteps({ sum, steps }: { sum: SavedSum; steps: SavedSteps }): StoredParts {
  const { kept, heldBytes } = steps;
  return { sampleIds: sum.sampleIds, spans: [], steps: { kept, bytes: heldBytes } };
}

/** Pieces that were read, and the sums that several windows have in them. */
export interface ReadPieces {
  byId: ReadonlyMap<string, StoredPiece>;
  sums: Map<string, SavedSum>;
}

export function toCondition(window: StoredWindow, read: ReadPieces): SavedCondition {
  const { _id, kind, spans, steps = NO_STEPS } = window;
  switch (kind) {
    case 'first_occurrence':
      return { kind, spans };
    case 'event_count_gte':
    case 'spend_gte':
      return { kind, sum: readSum(window, read) };
    case 'deviation_gte': {
      const metUntil = window.metUntil?.getTime() ?? null;
      return { kind, sum: readSum(window, read), steps: toSteps(_id, steps, read.byId), metUntil };
    }
    case 'burn_rate_gte': {
      const { terms, met } = window.burn ?? { terms: null, met: [] };
      return { kind, sum: readSum(window, read), steps: toSteps(_id, steps, read.byId), terms, met };
    }
    case 'forecast_gte': {
      const { terms, since, series } = window.forecast!;
      return {
        ...{ kind, sum: readSum(window, read), steps: toSteps(_id, steps, read.byId), terms, since },
        series: series.map(({ parts, ...fields }) => ({ ...fields, parts: fromBinary(parts) })),
      };
    }
  }
}

const NO_STEPS: StoredSteps = { kept: [], bytes: 0 };

function readSum(window: StoredWindow, { byId, sums }: ReadPieces): SavedSum {
  if (window.stored === undefined) return toSum(window, []);
  // Windows of one save that share entries have the same sum, which may be large.
  const key = `${window.sharedAs ?? window._id} ${window.size} ${window.stored}`;
  const parts = entryPieceIds(window).flatMap((id) => byId.get(id)?.parts ?? []);
  const sum = sums.get(key) ?? toSum(window, parts);
  sums.set(key, sum);
  return sum;
}

function toSum(window: StoredWindow, apart: readonly mongo.Binary[]): SavedSum {
  const { sampleIds, entries, parts = [], sharedAs = null } = window;
  const [stagger, shareAt] = [window.stagger!, window.shareAt!];
  const [form, size] = [window.form!, window.size!];
  const isApart = window.stored !== undefined;
  const saved = (isApart ? apart : [...(entries ? [entries] : []), ...parts]).map(fromBinary);
  const joined = joinParts(form, saved, size);
  const found = saved.reduce((total, { length }) => total + length, 0) / FIELDS[form];
  // Later parts can be appended unless earlier entries are missing.
  const isComplete = joined.size === size && (isApart ? found === window.stored : entries !== undefined);
  // `stored: 0` makes the next save a whole one.
  const stored = isComplete ? { stored: found, apart: isApart } : { stored: 0, apart: false };
  return { ...joined, sampleIds, ...stored, sharedAs, stagger, shareAt };
}
