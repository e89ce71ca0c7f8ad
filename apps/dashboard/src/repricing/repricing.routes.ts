import { identifier, micros, modelName, timestamp } from '@tollkeeper/contracts';
import { defineRoute, type Route } from '@tollkeeper/http';
import { AppError, type Clock, type TenantId } from '@tollkeeper/kernel';
import { z } from 'zod';
import type { Directory } from '../domain/directory.ts';
import { type ChangedSums, type RepricingJob, type RepricingStore, type RepricingSummary } from './repricing.ts';
import type { Reads } from '../domain/reads.ts';
import { type Tallies, WHOLE_WORKSPACE } from '../domain/tallies.ts';

const PATH = '/api/v1/prices:reprice';
const TAG = 'Prices';
const MAX_MODELS = 100;
const MAX_LISTED = 20;

const count = z.int().min(0);
const changed = {
  calls: count.meta({ description: 'Calls whose amount changes' }),
  from_micros: micros.meta({ description: 'What they counted before, in USD micros' }),
  to_micros: micros.meta({ description: 'What they count by the prices of today, in USD micros' }),
};
const group = (description: string) =>
  z
    .array(z.object({ name: z.string().nullable(), ...changed }))
    .meta({ description: `${description}. Those with the largest changes first; null: all others, or none is named` });

const summarySchema = z
  .object({
    id: identifier,
    state: z.enum(['running', 'done', 'failed']).meta({
      description: '`failed`: it was tried again for an hour. What it has changed until then stays',
    }),
    dry_run: z.boolean().meta({ description: 'Whether it only says what would change' }),
    from: timestamp,
    to: timestamp,
    models: z.array(z.string()).nullable(),
    created_at: timestamp,
    created_by: z.string().meta({ description: 'Id of the user' }),
    finished_at: timestamp.nullable(),
    progress: z.object({
      calls: count.meta({ description: 'Calls that were priced so far' }),
      expected_calls: count.meta({ description: 'Calls in the span when the job was created' }),
      read_until: timestamp.meta({ description: 'Calls before this time were priced' }),
    }),
    problem: z.string().nullable().meta({ description: 'Why it does not go on right now, or has failed' }),
    ...changed,
  })
  .meta({ id: 'RepricingSummary', description: 'A job that prices calls again' });
const jobSchema = summarySchema
  .extend({
    by_day: group('By day, in the time zone of the workspace'),
    by_model: group('By model'),
    by_agent: group('By agent'),
    by_budget: group('By id of the budgets that count such calls'),
  })
  .meta({ id: 'Repricing', description: 'A job that prices calls again, with what it changes' });

const body = z
  .strictObject({
    from: timestamp.meta({ description: 'The first time of calls to price again' }),
    to: timestamp.meta({ description: 'The end of the span: calls before it are priced again. At most now' }),
    models: z
      .array(modelName)
      .min(1)
      .max(MAX_MODELS)
      .optional()
      .meta({ description: 'Only calls of these models, by the names under which they count. Absent: all' }),
    dry_run: z.boolean().default(false).meta({ description: 'Says what would change, and changes nothing' }),
  })
  .meta({ id: 'RepricingRequest' });

const DESCRIPTION = `Prices the calls of a span again, by the prices that are known today for their time: those that the workspace has set,
then those of the operator, then those of the release. What a sender reports as its cost stays, and so do calls without
tokens and those of models without a price.

The job runs in the background: read how far it is at \`/prices:reprice/jobs/{id}\`. It corrects the figures of the
dashboard and the spend of running budgets by exactly the difference, once, also if services end and start again
meanwhile. One job of a workspace runs at a time: during it, 409. No alert rule counts corrections.`;

export interface RepricingRouteDeps {
  store: RepricingStore;
  /** Number of prices that the workspace has set. */
  countOverrides(tenantId: TenantId): Promise<number>;
  reads: Reads;
  tallies: Tallies;
  directory: Directory;
  clock: Clock;
  /** How long events are kept. */
  retentionSeconds: number;
  /** Called when there is a new job. */
  onCreated(): void;
}

/** Pricing calls again: owners start it, members see what it changes. */
export function createRepricingRoutes(deps: RepricingRouteDeps): Route[] {
  const { store } = deps;
  const found = { description: 'The job', schema: jobSchema };
  return [
    defineRoute({
      method: 'post',
      audit: 'repricing.create',
      path: PATH,
      operationId: 'repriceCalls',
      tag: TAG,
      summary: 'Price calls again',
      description: DESCRIPTION,
      access: 'owner',
      body,
      responses: { 202: { ...found, description: 'The job, which has begun' } },
      handler: async ({ caller: { tenantId }, body: asked, cause, signal }) => {
        const span = spanOf(asked, deps);
        const [timezone, overrides, [counted]] = await Promise.all([
          deps.directory.timezone(tenantId),
          deps.countOverrides(tenantId),
          deps.reads.run({ tenantId, kind: 'repricing count', signal }, (meter) =>
            deps.tallies.ofSpans(tenantId, WHOLE_WORKSPACE, [{ start: span.from, end: span.to }], meter),
          ),
        ]);
        const terms = { ...span, models: asked.models ?? null, dryRun: asked.dry_run };
        const job = await store.create(
          tenantId,
          { ...terms, timezone, overrides, expected: counted!.settlements },
          cause,
        );
        deps.onCreated();
        return { status: 202, body: toBody(job) };
      },
    }),
    defineRoute({
      method: 'get',
      path: `${PATH}/jobs`,
      operationId: 'listRepricings',
      tag: TAG,
      summary: 'List the last jobs that priced calls again',
      access: 'member',
      responses: {
        200: {
          description: `The newest ${MAX_LISTED}, newest first`,
          schema: z.object({ items: z.array(summarySchema) }),
        },
      },
      handler: async ({ caller }) => ({
        status: 200,
        body: { items: (await store.list(caller.tenantId, MAX_LISTED)).map(toSummary) },
      }),
    }),
    defineRoute({
      method: 'get',
      path: `${PATH}/jobs/{id}`,
      operationId: 'getRepricing',
      tag: TAG,
      summary: 'Get a job that prices calls again',
      access: 'member',
      params: z.object({ id: identifier }),
      responses: { 200: found },
      handler: async ({ caller, params: { id } }) => {
        const job = await store.find(caller.tenantId, id);
        if (job === null) throw new AppError('not_found', 'The workspace has no such job.');
        return { status: 200, body: toBody(job) };
      },
    }),
  ];
}

/** The span as asked, if its events are still stored. */
function spanOf(
  asked: { from: string; to: string },
  { clock, retentionSeconds }: Pick<RepricingRouteDeps, 'clock' | 'retentionSeconds'>,
): { from: number; to: number } {
  const now = clock();
  const [from, to] = [Date.parse(asked.from), Date.parse(asked.to)];
  if (to > now) throw invalid('to', 'must not be in the future');
  if (from >= to) throw invalid('from', 'must be before to');
  const oldest = now - retentionSeconds * 1000;
  if (from < oldest) {
    const at = new Date(oldest).toISOString();
    throw invalid('from', `must be at least ${at}: earlier calls are stored as sums only, which cannot be priced`);
  }
  return { from, to };
}

function invalid(path: string, message: string): AppError {
  return new AppError('invalid_request', `${path} ${message}.`, { details: [{ path, message }] });
}

function toSummary(job: RepricingSummary): z.infer<typeof summarySchema> {
  const { sums } = job;
  return {
    id: job.id,
    state: job.state,
    dry_run: job.dryRun,
    from: new Date(job.from).toISOString(),
    to: new Date(job.to).toISOString(),
    models: job.models === null ? null : [...job.models],
    created_at: job.createdAt.toISOString(),
    created_by: job.createdBy,
    finished_at: job.finishedAt?.toISOString() ?? null,
    progress: {
      calls: sums.read,
      expected_calls: Math.max(job.expected, sums.read),
      read_until: new Date(job.place.time).toISOString(),
    },
    problem: job.problem,
    ...toChanged(sums),
  };
}

function toBody(job: RepricingJob): z.infer<typeof jobSchema> {
  const { by } = job.sums;
  return {
    ...toSummary(job),
    by_day: toGroup(by.day),
    by_model: toGroup(by.model),
    by_agent: toGroup(by.agent),
    by_budget: toGroup(by.budget),
  };
}

function toGroup(groups: ReadonlyMap<string, ChangedSums>) {
  return [...groups]
    .sort(([, a], [, b]) => Math.abs(b.toMicros - b.fromMicros) - Math.abs(a.toMicros - a.fromMicros))
    .map(([name, sums]) => ({ name: name === '' ? null : name, ...toChanged(sums) }));
}

function toChanged({ calls, fromMicros, toMicros }: ChangedSums) {
  return { calls, from_micros: fromMicros, to_micros: toMicros };
}
