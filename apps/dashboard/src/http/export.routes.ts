import { defineRoute, type Route } from '@tollkeeper/http';
import { toLocal } from '@tollkeeper/kernel';
import type { Metrics } from '@tollkeeper/runtime';
import { z } from 'zod';
import { EXPORT_FORMATS } from '../domain/exports.ts';
import { callRowSchema, dayRowSchema } from './export.lines.ts';
import { createExportObserver } from './export.metrics.ts';
import { exportFormat, exportGroupBy } from './export.schemas.ts';
import type { ExportText } from './export.text.ts';
import { rangeQuery } from './schemas.ts';
import type { Selection } from './selection.ts';
import type { QueryWindow, WindowOf } from './window.ts';

export interface ExportDeps {
  textOf: ExportText;
  windowOf: WindowOf;
  selection: Selection;
  metrics: Metrics;
}

/** Spend as a file. */
export function createExportRoute({ textOf, windowOf, selection, metrics }: ExportDeps): Route {
  const observed = createExportObserver(metrics);
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
      group_by: exportGroupBy.optional(),
      format: exportFormat.default('csv'),
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
      const text = await textOf(format, { request, window, subject, by });
      const { type, extension } = EXPORT_FORMATS[format];
      const headers = {
        'content-type': type,
        'content-disposition': `attachment; filename="${fileName(window)}.${extension}"`,
      };
      return { status: 200, headers, stream: observed(format, text, signal) };
    },
  });
}

/** `tollkeeper-2026-11-01-to-2026-11-30`, by local days. */
function fileName({ start, end, timezone }: QueryWindow): string {
  const [first, last] = [start, end - 1].map((time) => toLocal(time, timezone).toPlainDate().toString());
  return `tollkeeper-${first}-to-${last}`;
}
