import { fromCursor, identifier, toCursor } from '@tollkeeper/contracts';
import { defineRoute, integerQuery, type Route } from '@tollkeeper/http';
import { AppError } from '@tollkeeper/kernel';
import { z } from 'zod';
import { BLOCKED_TYPES, eventKey, SPEND_SETTLED, type BlockedType } from '../domain/event.ts';
import type { EventCursor, EventReader } from '../domain/event.reader.ts';
import type { Reads } from '../domain/reads.ts';
import type { Tallies } from '../domain/tallies.ts';
import type { SumOf } from '../domain/tally.ts';
import { blockedSchemas, budgetBlockedFields, guardBlockedFields } from './blocked.schemas.ts';
import { toFullEvent, toItem, toWindow } from './bodies.ts';
import { rangeQuery } from './schemas.ts';
import { withoutLabel, type Selection } from './selection.ts';
import type { WindowOf } from './window.ts';

/** Most blocked calls, and most settlements, of a run in an answer. */
const MAX_RUN_EVENTS = 1000;

interface BlockedDeps {
  reads: Reads;
  tallies: Tallies;
  events: EventReader;
  windowOf: WindowOf;
  selection: Selection;
}

/** Calls that a budget or a guard blocked: lists, and one event or one run in detail. */
export function createBlockedRoutes(deps: BlockedDeps): Route[] {
  return BLOCKED_TYPES.flatMap((type) => {
    const kind = KINDS[type];
    const schemas = blockedSchemas(kind.name, kind.fields);
    return [listRoute(deps, type, kind, schemas), detailsRoute(deps, type, kind, schemas)];
  });
}

interface BlockedKind<Type extends BlockedType> {
  path: string;
  name: string;
  what: string;
  /** The measure that counts the calls. */
  measure: SumOf<Type>;
  fields: z.ZodObject;
}

const KINDS: { [Type in BlockedType]: BlockedKind<Type> } = {
  'budget.blocked': {
    path: '/api/v1/dashboard/budget-blocked',
    name: 'BudgetBlocked',
    what: 'calls that a budget blocked',
    measure: 'budgetBlocked',
    fields: budgetBlockedFields,
  },
  'guard.blocked': {
    path: '/api/v1/dashboard/guard-blocked',
    name: 'GuardBlocked',
    what: 'calls that a guard blocked',
    measure: 'guardBlocked',
    fields: guardBlockedFields,
  },
};

type Kind = (typeof KINDS)[BlockedType];
type Schemas = ReturnType<typeof blockedSchemas>;

function listRoute(deps: BlockedDeps, type: BlockedType, kind: Kind, schemas: Schemas): Route {
  const { reads, tallies, events, windowOf, selection } = deps;
  const { path, name, what, measure } = kind;
  return defineRoute({
    method: 'get',
    path,
    operationId: `list${name}`,
    tag: 'Dashboard',
    summary: `The ${what}, newest first`,
    access: 'member',
    query: z.object({
      ...rangeQuery,
      agent_id: identifier.optional().meta({ description: 'Only calls of this agent' }),
      limit: integerQuery({ min: 1, max: 100, default: 50, description: 'Maximum number of items on a page' }),
      cursor: z.string().max(1024).optional().meta({ description: 'The `next_cursor` of the previous page' }),
    }),
    responses: { 200: { description: 'A page', schema: schemas.list } },
    async handler({ caller: { tenantId }, query: { label, ...query }, signal }) {
      const after = query.cursor === undefined ? undefined : placeOf(query.cursor);
      const subject = await selection.subjectOf(tenantId, { label, agent_id: query.agent_id });
      const window = await windowOf(tenantId, query);
      const [[tally], found] = await reads.run({ tenantId, kind: type, signal }, (meter) =>
        Promise.all([
          tallies.ofSpans(tenantId, subject, [window], meter),
          events.listBlocked(tenantId, type, subject, window, query.limit + 1, after),
        ]),
      );
      const page = found.slice(0, query.limit);
      const last = found.length > page.length ? page.at(-1) : undefined;
      return {
        status: 200,
        body: schemas.list.parse({
          window: toWindow(window),
          total: tally![measure],
          items: page.map(toItem),
          next_cursor: last === undefined ? null : toCursor(last.time, eventKey(last)),
        }),
      };
    },
  });
}

function detailsRoute(deps: BlockedDeps, type: BlockedType, kind: Kind, schemas: Schemas): Route {
  const { reads, events, windowOf } = deps;
  const { path, name, what } = kind;
  return defineRoute({
    method: 'get',
    path: `${path}/details`,
    operationId: `get${name}Details`,
    tag: 'Dashboard',
    summary: `One of the ${what}, or those of one run with its settlements`,
    description:
      'Give `event_id` or `run_id`. If both are given, `event_id` takes precedence. The event or run may be outside the window.',
    access: 'member',
    query: z
      .object({ ...rangeQuery, event_id: identifier.optional(), run_id: identifier.optional() })
      .refine((query) => query.event_id !== undefined || query.run_id !== undefined, {
        path: ['event_id'],
        message: 'is required unless run_id is given',
      }),
    responses: { 200: { description: 'The event, or the run', schema: schemas.details } },
    async handler({ caller: { tenantId }, query, signal }) {
      const window = toWindow(await windowOf(tenantId, withoutLabel(query)));
      if (query.event_id !== undefined) {
        const event = await events.findBlocked(tenantId, type, query.event_id);
        if (event === null) throw new AppError('not_found', `This workspace has no ${type} event with that event_id.`);
        return { status: 200, body: schemas.details.parse({ window, event: toFullEvent(event) }) };
      }
      const runId = query.run_id!;
      // Read separately, so that blocked calls are found after any number of settlements.
      const [blocked, settlements] = await reads.run({ tenantId, kind: `run of ${type}`, signal }, (meter) =>
        Promise.all([
          events.listRun(tenantId, type, runId, MAX_RUN_EVENTS, meter),
          events.listRun(tenantId, SPEND_SETTLED, runId, MAX_RUN_EVENTS, meter),
        ]),
      );
      if (blocked.length === 0)
        throw new AppError('not_found', `This workspace has no run with that run_id and a ${type} event.`);
      const run = [...blocked, ...settlements].sort((a, b) => a.time - b.time);
      return { status: 200, body: schemas.details.parse({ window, run_id: runId, events: run.map(toFullEvent) }) };
    },
  });
}

function placeOf(cursor: string): EventCursor {
  const [time, key] = fromCursor(cursor, /./);
  return { time, key };
}
