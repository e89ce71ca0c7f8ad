import { startSlices, type TenantId } from '@tollkeeper/kernel';
import type { Directory } from '../domain/directory.ts';
import type { DashboardEvent } from '../domain/event.ts';
import {
  type DayRow,
  EXPORTED_CALLS,
  type ExportFormat,
  type ExportGroupBy,
  type ExportRequest,
  type Exports,
} from '../domain/exports.ts';
import { daysOf } from '../domain/series.ts';
import type { Subject } from '../domain/tallies.ts';
import { labelIn } from '../domain/tracked-labels.ts';
import { toTimestamp } from './bodies.ts';
import { CSV_OF_CALLS, csvOfDays, type Day, JSON_OF_CALLS, type Lines, toDay, toJsonLine } from './export.lines.ts';
import { createFocusLines, toCharges } from './focus.ts';
import { invalid, type Selection } from './selection.ts';
import { HAS_DISPLAY_NAME } from '../domain/breakdown.ts';
import type { QueryWindow } from './window.ts';

export interface ExportTextDeps {
  exports: Exports;
  directory: Directory;
  selection: Selection;
}

/** What is exported. */
interface WantedExport {
  request: ExportRequest;
  window: QueryWindow;
  subject: Subject;
  by?: ExportGroupBy | undefined;
}

/** The text of a file in pieces, each made when the one before has been taken. */
export type ExportText = (format: ExportFormat, wanted: WantedExport) => Promise<AsyncIterable<string>>;

export function createExportText(deps: ExportTextDeps): ExportText {
  const textOf: Record<ExportFormat, (wanted: WantedExport) => Promise<AsyncIterable<string>>> = {
    csv: (wanted) =>
      wanted.by === EXPORTED_CALLS ? callText(deps, wanted, CSV_OF_CALLS) : dayText(deps, wanted, csvOfDays),
    ndjson: (wanted) =>
      wanted.by === EXPORTED_CALLS ? callText(deps, wanted, JSON_OF_CALLS) : dayText(deps, wanted, () => JSON_OF_DAYS),
    focus: (wanted) => focusText(deps, wanted),
  };
  return (format, wanted) => textOf[format](wanted);
}

const JSON_OF_DAYS: Lines<Day> = { head: '', line: toJsonLine };

async function dayText(
  { exports, selection, directory }: ExportTextDeps,
  { request, window, subject, by }: WantedExport,
  linesOf: (isDivided: boolean) => Lines<Day>,
): Promise<AsyncIterable<string>> {
  const days = daysOf(window);
  const write = (pages: AsyncIterable<DayRow[]>, names: ReadonlyMap<string, string> = new Map<string, string>()) =>
    toText(linesOf(by !== undefined), pages, (row) => toDay(row, window.timezone, names));
  if (by === undefined) return write(exports.days(request, subject, days));
  refuseLabel(subject, by);
  const grouping = await selection.groupingOf(request.tenantId, by, 'group_by');
  const pages = exports.groups(request, grouping, days);
  if (!HAS_DISPLAY_NAME[grouping.by]) return write(pages);
  const names = new Map<string, string>();
  return write(withNames(pages, directory, request.tenantId, names), names);
}

/** The two would need the spend of a group by label, which is not counted. */
function refuseLabel(subject: Subject, by: string): void {
  switch (subject.scope) {
    case 'label':
      throw invalid(`label.${subject.name}`, `cannot be combined with group_by=${by}. Leave one of them out`);
    case 'workspace':
    case 'agent':
  }
}

/** Agents of one question to identity. */
const MAX_ASKED = 1_000;

/** Fills in `names` before it passes on each page. */
async function* withNames(
  pages: AsyncIterable<DayRow[]>,
  directory: Directory,
  tenantId: TenantId,
  names: Map<string, string>,
): AsyncGenerator<DayRow[]> {
  for await (const page of pages) {
    const unknown = page.flatMap(({ key }) => (key && !names.has(key) ? key : []));
    for (let at = 0; at < unknown.length; at += MAX_ASKED) {
      const found = await directory.displayNames(tenantId, unknown.slice(at, at + MAX_ASKED));
      for (const [id, name] of found) names.set(id, name);
    }
    yield page;
  }
}

async function callText(
  { exports }: ExportTextDeps,
  wanted: WantedExport,
  lines: Lines<DashboardEvent>,
): Promise<AsyncIterable<string>> {
  return toText(lines, callsOf(exports, wanted), (call) => call);
}

async function focusText({ exports, directory }: ExportTextDeps, wanted: WantedExport): Promise<AsyncIterable<string>> {
  const { request, by } = wanted;
  if (by !== undefined) {
    throw invalid('group_by', 'cannot be combined with format=focus, whose rows FOCUS defines. Leave it out');
  }
  const calls = callsOf(exports, wanted);
  const workspace = { id: request.tenantId, name: await directory.workspaceName(request.tenantId) };
  return toText(createFocusLines(workspace), toCharges(calls, request.span), (charge) => charge);
}

/** Single calls are in events, which are removed earlier than roll-ups. */
function callsOf(exports: Exports, { request, window, subject }: WantedExport): AsyncIterable<DashboardEvent[]> {
  if (window.eventsFrom !== undefined) {
    const path = window.kind === 'custom' ? 'from' : 'range';
    const since = toTimestamp(window.eventsFrom);
    const instead = 'Choose a later from, or leave out format=focus and group_by=call: sums by day are kept longer';
    throw invalid(path, `must begin at ${since} or later, as earlier calls have been removed. ${instead}`);
  }
  const pages = exports.calls(request);
  switch (subject.scope) {
    case 'label':
      return matching(pages, ({ data }) => labelIn(data.labels, subject.name) === subject.value);
    case 'workspace':
    case 'agent':
      return pages;
  }
}

async function* matching<Row>(pages: AsyncIterable<Row[]>, isWanted: (row: Row) => boolean): AsyncGenerator<Row[]> {
  for await (const page of pages) yield page.filter(isWanted);
}

/** One piece for each page. The first has the head too, so an export that cannot begin is answered with its error. */
async function* toText<Row, Shown>(
  { head, line }: Lines<Shown>,
  pages: AsyncIterable<Row[]>,
  show: (row: Row) => Shown,
): AsyncGenerator<string> {
  let text = head;
  for await (const page of pages) {
    const slices = startSlices();
    for (const row of page) {
      if (slices.usedUp()) await slices.next();
      text += line(show(row));
    }
    if (text !== '') yield text;
    text = '';
  }
}
