import { identifier, micros, timestamp } from '@tollkeeper/contracts';
import { bytesBody, defineRoute, type Route } from '@tollkeeper/http';
import { AppError, type Clock, MAX_MICROS } from '@tollkeeper/kernel';
import { z } from 'zod';
import type { Reads } from '../domain/reads.ts';
import type { Tallies } from '../domain/tallies.ts';
import { COST_FORMATS, readCostFile } from './cost.file.ts';
import {
  compare,
  type Compared,
  daysOf,
  MAX_KEPT,
  type Reconciliation,
  type ReconciliationHead,
  type ReconciliationStore,
} from './reconciliation.ts';

const PATH = '/api/v1/reconciliations';
const TAG = 'Prices';
const MAX_BYTES = 1024 * 1024;
/** Models of a workspace. Roll-ups keep 1,000 of a day apart. */
const MAX_MODELS = 10_000;
const DAY_MS = 86_400_000;

/** Charged amounts may be negative, because of credits. */
const charged = z.int().min(-MAX_MICROS).max(MAX_MICROS);
const day = z.string().meta({ description: 'A UTC day', example: '2026-10-31' });
const compared = {
  charged_micros: charged.meta({ description: 'What the provider charges, in USD micros' }),
  counted_micros: micros.meta({ description: 'What Tollkeeper counted, in USD micros' }),
  difference_micros: charged.meta({ description: 'What Tollkeeper counted more than the provider charges' }),
};

const headSchema = z
  .object({
    id: identifier,
    file_name: z.string(),
    format: z.enum(COST_FORMATS),
    created_at: timestamp,
    created_by: z.string().meta({ description: 'Id of the user' }),
    from: day,
    to: day,
    ...compared,
  })
  .meta({ id: 'ReconciliationSummary', description: 'A comparison with a cost file of a provider' });
const reportSchema = headSchema
  .extend({
    days: z.array(z.object({ day, ...compared })),
    models: z
      .array(z.object({ model: z.string(), ...compared }))
      .meta({ description: 'By the name that both sides have in common, largest difference first' }),
    cells: z.array(z.object({ day, model: z.string(), ...compared })).meta({ description: 'Each model on each day' }),
    only_counted: z
      .array(z.object({ model: z.string(), micros }))
      .meta({ description: 'Models that the file does not have, with what was counted in its time. In no sum' }),
  })
  .meta({ id: 'Reconciliation' });

const DESCRIPTION = `Compares what a provider charges with what Tollkeeper counted, by UTC day and model, and keeps the result. The file is CSV
of at most 1 MiB, in one of these formats, which its first line shows:

- \`generic\`: the columns \`day\`, \`model\`, \`amount_usd\`.
- \`openai\`: the cost export of OpenAI's dashboard, grouped by line item.
- \`anthropic\`: the cost export of Anthropic's console.

Names of models match without their dates, the provider before them, and in any case. A workspace keeps its last ${MAX_KEPT}
comparisons.`;

export interface ReconciliationRouteDeps {
  store: ReconciliationStore;
  reads: Reads;
  tallies: Tallies;
  clock: Clock;
  /** How long roll-ups are kept. */
  rollupSeconds: number;
}

/** Comparisons with cost files: admins make them, members read them. */
export function createReconciliationRoutes(deps: ReconciliationRouteDeps): Route[] {
  const { store } = deps;
  return [
    defineRoute({
      method: 'post',
      audit: 'reconciliation.create',
      path: PATH,
      operationId: 'reconcile',
      tag: TAG,
      summary: 'Compare with a cost file of a provider',
      description: DESCRIPTION,
      access: 'admin',
      query: z.object({
        file_name: z.string().max(128).default('').meta({ description: 'What to call the comparison' }),
      }),
      readsBytes: true,
      body: { 'text/csv': bytesBody },
      bodyLimitBytes: MAX_BYTES,
      responses: { 200: { description: 'The comparison', schema: reportSchema } },
      handler: async ({ caller: { tenantId }, query: { file_name: fileName }, body, cause, signal }) => {
        const file = await readCostFile(body);
        const days = daysOf(file);
        const first = Date.parse(days[0]!);
        const oldest = deps.clock() - deps.rollupSeconds * 1000;
        if (first < oldest) {
          const message = `must not have days before ${new Date(oldest).toISOString().slice(0, 10)}, which are no longer stored`;
          throw new AppError('invalid_request', `The file ${message}.`, { details: [{ path: 'body', message }] });
        }
        const spans = days.map((_, index) => ({ start: first + index * DAY_MS, end: first + (index + 1) * DAY_MS }));
        const { groups } = await deps.reads.run({ tenantId, kind: 'reconciliation', signal }, (meter) =>
          deps.tallies.breakdown(tenantId, { by: 'model' }, spans, MAX_MODELS, meter),
        );
        const counted = groups.map(({ key, micros }) => ({ model: key, micros }));
        const comparison = await compare(file, days, counted);
        const report = await store.add(tenantId, { ...comparison, fileName, format: file.format }, cause);
        return { status: 200, body: toBody(report) };
      },
    }),
    defineRoute({
      method: 'get',
      path: PATH,
      operationId: 'listReconciliations',
      tag: TAG,
      summary: 'List the comparisons with cost files',
      access: 'member',
      responses: {
        200: {
          description: 'All that are kept, newest first',
          schema: z.object({ items: z.array(headSchema) }),
        },
      },
      handler: async ({ caller }) => ({
        status: 200,
        body: { items: (await store.list(caller.tenantId)).map(toHead) },
      }),
    }),
    defineRoute({
      method: 'get',
      path: `${PATH}/{id}`,
      operationId: 'getReconciliation',
      tag: TAG,
      summary: 'Get a comparison with a cost file',
      access: 'member',
      params: z.object({ id: identifier }),
      responses: { 200: { description: 'The comparison', schema: reportSchema } },
      handler: async ({ caller, params: { id } }) => {
        const report = await store.find(caller.tenantId, id);
        if (report === null) throw new AppError('not_found', 'The workspace has no such comparison.');
        return { status: 200, body: toBody(report) };
      },
    }),
  ];
}

function toHead(report: ReconciliationHead): z.infer<typeof headSchema> {
  return {
    id: report.id,
    file_name: report.fileName,
    format: report.format,
    created_at: report.createdAt.toISOString(),
    created_by: report.createdBy,
    from: report.from,
    to: report.to,
    ...toCompared(report),
  };
}

function toBody(report: Reconciliation): z.infer<typeof reportSchema> {
  const { cells } = report;
  const days = summed(cells, ({ day }) => day).map(([name, sums]) => ({ day: name, ...toCompared(sums) }));
  const models = summed(cells, ({ model }) => model)
    .map(([model, sums]) => ({ model, ...toCompared(sums) }))
    .sort((a, b) => Math.abs(b.difference_micros) - Math.abs(a.difference_micros));
  return {
    ...toHead(report),
    days: days.sort((a, b) => (a.day < b.day ? -1 : 1)),
    models,
    cells: cells.map(({ day, model, ...sums }) => ({ day, model, ...toCompared(sums) })),
    only_counted: report.onlyCounted.map(({ model, micros }) => ({ model, micros })),
  };
}

function summed<Cell extends Compared>(cells: readonly Cell[], keyOf: (cell: Cell) => string): [string, Compared][] {
  const sums = new Map<string, Compared>();
  for (const cell of cells) {
    const known = sums.get(keyOf(cell)) ?? { chargedMicros: 0, countedMicros: 0 };
    known.chargedMicros += cell.chargedMicros;
    known.countedMicros += cell.countedMicros;
    sums.set(keyOf(cell), known);
  }
  return [...sums];
}

function toCompared({ chargedMicros, countedMicros }: Compared) {
  return {
    charged_micros: chargedMicros,
    counted_micros: countedMicros,
    difference_micros: countedMicros - chargedMicros,
  };
}
