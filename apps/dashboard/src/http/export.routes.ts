import { labelName } from '@tollkeeper/contracts';
import { defineRoute, type Route } from '@tollkeeper/http';
import { startSlices, type TenantId, toLocal } from '@tollkeeper/kernel';
import type { Metrics } from '@tollkeeper/runtime';
import { z } from 'zod';
import { DIMENSIONS, HAS_DISPLAY_NAME } from '../domain/breakdown.ts';
import type { Directory } from '../domain/directory.ts';
import type { DashboardEvent } from '../domain/event.ts';
import type { DayRow, ExportRequest, Exports } from '../domain/exports.ts';
import { daysOf } from '../domain/series.ts';
import type { Subject } from '../domain/tallies.ts';
import { labelIn } from '../domain/tracked-labels.ts';
import { toTimestamp } from './bodies.ts';
import { createExportObserver } from './export.metrics.ts';
import {
  callRowSchema,
  CSV_OF_CALLS,
  csvOfDays,
  type Day,
  dayRowSchema,
  JSON_OF_CALLS,
  type Lines,
  toDay,
  toJsonLine,
} from './export.lines.ts';
import { createFocusLines, toCharges } from './focus.ts';
import { rangeQuery } from './schemas.ts';
import { invalid, type Selection } from './selection.ts';
import type { QueryWindow, WindowOf } from './window.ts';

const CALL = 'call';
const GROUPS = [...DIMENSIONS, CALL] as const;
const groupBy = z
  .union([z.enum(GROUPS), z.templateLiteral(['label:', labelName])], {
    error: `must be ${GROUPS.join(', ')}, or label: and the name of a label that the workspace tracks`,
  })
  .optional()
  .meta({
    description:
      'What the rows are: one for each local day and agent, model, plan or value of a tracked label (`label:team`), or one for each `call`. Without it, one for each local day. `format=focus` has rows of its own and takes none',
    example: 'agent',
  });

const FORMATS = {
  csv: { type: 'text/csv; charset=utf-8; header=present', extension: 'csv' },
  ndjson: { type: 'application/x-ndjson; charset=utf-8', extension: 'ndjson' },
  focus: { type: 'text/csv; charset=utf-8; header=present', extension: 'focus.csv' },
} as const;
type Format = keyof typeof FORMATS;

export interface ExportDeps {
  exports: Exports;
  directory: Directory;
  windowOf: WindowOf;
  selection: Selection;
  metrics: Metrics;
}

/** What is exported. */
interface Wanted {
  request: ExportRequest;
  window: QueryWindow;
  subject: Subject;
  by: z.output<typeof groupBy>;
}

/** Spend as a file. */
export function createExportRoute(deps: ExportDeps): Route {
  const { windowOf, selection, metrics } = deps;
  const observed = createExportObserver(metrics);
  const textOf: Record<Format, (wanted: Wanted) => Promise<AsyncIterable<string>>> = {
    csv: (wanted) => (wanted.by === CALL ? callText(deps, wanted, CSV_OF_CALLS) : dayText(deps, wanted, csvOfDays)),
    ndjson: (wanted) =>
      wanted.by === CALL ? callText(deps, wanted, JSON_OF_CALLS) : dayText(deps, wanted, () => JSON_OF_DAYS),
    focus: (wanted) => focusText(deps, wanted),
  };
  return defineRoute({
    method: 'get',
    path: '/api/v1/dashboard/export',
    operationId: 'exportSpend',
    tag: 'Dashboard',
    summary: 'Export spend as a file',
    description:
      'The same spend as `/spend` of the same window, exact to the micro, as a stream. It has every call that was accepted before the request, and may have later ones. If the connection closes without its last chunk, the file is incomplete. A workspace has one export at a time; further ones get 429.',
    access: 'member',
    query: z.object({
      ...rangeQuery,
      group_by: groupBy,
      format: z
        .enum(Object.keys(FORMATS) as [Format, ...Format[]])
        .default('csv')
        .meta({
          description:
            '`csv` according to RFC 4180; `ndjson`, one JSON object per line; or `focus`, FOCUS 1.2 as CSV, with one row for each UTC hour and kind of call',
        }),
    }),
    responses: {
      200: {
        description: 'The file',
        streams: { 'text/csv': z.string(), 'application/x-ndjson': z.union([dayRowSchema, callRowSchema]) },
      },
    },
    async handler({ caller: { tenantId }, query: { format, group_by: by, label, ...range }, signal }) {
      const subject = await selection.subjectOf(tenantId, { label });
      const window = await windowOf(tenantId, range);
      const request = { tenantId, span: window, signal };
      const text = await textOf[format]({ request, window, subject, by });
      const { type, extension } = FORMATS[format];
      const headers = {
        'content-type': type,
        'content-disposition': `attachment; filename="${fileName(window)}.${extension}"`,
      };
      return { status: 200, headers, stream: observed(format, text, signal) };
    },
  });
}

const JSON_OF_DAYS: Lines<Day> = { head: '', line: toJsonLine };

async function dayText(
  { exports, selection, directory }: ExportDeps,
  { request, window, subject, by }: Wanted,
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
  { exports }: ExportDeps,
  wanted: Wanted,
  lines: Lines<DashboardEvent>,
): Promise<AsyncIterable<string>> {
  return toText(lines, callsOf(exports, wanted), (call) => call);
}

async function focusText({ exports, directory }: ExportDeps, wanted: Wanted): Promise<AsyncIterable<string>> {
  const { request, by } = wanted;
  if (by !== undefined) {
    throw invalid('group_by', 'cannot be combined with format=focus, whose rows FOCUS defines. Leave it out');
  }
  const calls = callsOf(exports, wanted);
  const workspace = { id: request.tenantId, name: await directory.workspaceName(request.tenantId) };
  return toText(createFocusLines(workspace), toCharges(calls, request.span), (charge) => charge);
}

/** Single calls are in events, which are removed earlier than roll-ups. */
function callsOf(exports: Exports, { request, window, subject }: Wanted): AsyncIterable<DashboardEvent[]> {
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

/** `tollkeeper-2026-11-01-to-2026-11-30`, by local days. */
function fileName({ start, end, timezone }: QueryWindow): string {
  const [first, last] = [start, end - 1].map((time) => toLocal(time, timezone).toPlainDate().toString());
  return `tollkeeper-${first}-to-${last}`;
}
