import { labelName } from '@tollkeeper/contracts';
import { z } from 'zod';
import { DIMENSIONS } from '../domain/breakdown.ts';
import { EXPORT_FORMATS, EXPORTED_CALLS, type ExportFormat } from '../domain/exports.ts';

const GROUPS = [...DIMENSIONS, EXPORTED_CALLS] as const;

export const exportGroupBy = z
  .union([z.enum(GROUPS), z.templateLiteral(['label:', labelName])], {
    error: `must be ${GROUPS.join(', ')}, or label: and the name of a label that the workspace tracks`,
  })
  .meta({
    description:
      'What the rows are: one for each local day and agent, model, plan or value of a tracked label (`label:team`), or one for each `call`. Without it, one for each local day. `format=focus` has rows of its own and takes none',
    example: 'agent',
  });

export const exportFormat = z.enum(Object.keys(EXPORT_FORMATS) as [ExportFormat, ...ExportFormat[]]).meta({
  description:
    '`csv` according to RFC 4180; `ndjson`, one JSON object per line; or `focus`, FOCUS 1.2 as CSV, with one row for each UTC hour and kind of call',
});
