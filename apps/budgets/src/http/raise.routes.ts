import { fromCursor, MAX_RAISES, toCursor } from '@tollkeeper/contracts';
import { defineRoute, type Route, type TenantCaller } from '@tollkeeper/http';
import type { Clock } from '@tollkeeper/kernel';
import type { Asker, Raise } from '../domain/raise.ts';
import { MAX_REQUESTS_OF_ASKER, type RaiseUseCases } from '../domain/raise.use-cases.ts';
import {
  approvalBody,
  declineBody,
  listQuery,
  ofRaise,
  raiseInput,
  raisePage,
  raiseRecord,
  toRaiseDraft,
  toRaiseRecord,
} from './raise.schemas.ts';

const PATH = '/api/v1/raises';
const ONE = `${PATH}/{raise_id}`;
const TAG = 'Raises';
const RAISE_ID = /^rai_[0-9A-Za-z]{1,64}$/;

const CREATE = `Adds \`extra_micros\` to the limit of a budget until a time, at most 31 days from now. For a budget with \`each\`,
\`value\` names the limit. Several raises of a limit add up. It counts within two seconds, and ends on its own.

By an owner, the raise is granted at once: 409 if ${MAX_RAISES} are in force. By anybody else it is a request, which owners
approve or decline: 429 if the asker has ${MAX_REQUESTS_OF_ASKER} requests that are open or of the last hour. The same
\`request_id\` of the same person answers the same raise; with other content it is 409 (\`request_id_reused\`).`;

const APPROVE = `Grants a request, with another amount or end if they are given. It counts within two seconds.

With \`token\`, the link must be the one of this request and at most an hour old: otherwise 400. 409 if the request was
decided or has expired; the message says who was first. So a link is good for one decision.`;

/** Raises of the workspace: members read and ask for them, owners grant, decline and end them. */
export function createRaiseRoutes(raises: RaiseUseCases, clock: Clock): Route[] {
  const answer = (raise: Raise) => toRaiseRecord(raise, clock());
  return [...routesOfAll(raises, answer), ...routesOfRequests(raises, answer), endRoute(raises, answer)];
}

type ToAnswer = (raise: Raise) => ReturnType<typeof toRaiseRecord>;

function routesOfAll(raises: RaiseUseCases, answer: ToAnswer): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: PATH,
      operationId: 'listRaises',
      tag: TAG,
      summary: 'List raises of limits, and requests for them, newest first',
      description: 'Those of the last 400 days.',
      access: 'member',
      query: listQuery,
      responses: { 200: { description: 'A page', schema: raisePage } },
      handler: async ({ caller, query: { state, budget_id: budgetId, limit, cursor } }) => {
        const after = cursor === undefined ? undefined : placeAt(cursor);
        const found = await raises.list(caller.tenantId, { state, budgetId, after, limit: limit + 1 });
        const page = found.slice(0, limit);
        const last = found.length > limit ? page.at(-1) : undefined;
        const next = last === undefined ? null : toCursor(last.createdAt.getTime(), last.id);
        return { status: 200, body: { items: page.map(answer), next_cursor: next } };
      },
    }),
    defineRoute({
      method: 'post',
      audit: 'raise.request',
      path: PATH,
      operationId: 'createRaise',
      tag: TAG,
      summary: 'Raise the limit of a budget for a time, or ask owners for it',
      description: CREATE,
      access: 'member',
      body: raiseInput,
      responses: { 201: { description: 'The raise, or the request for it', schema: raiseRecord } },
      handler: async ({ caller, body, cause }) => {
        const { id, name } = cause.actor;
        const create = mayGrant(caller) ? raises.grant : raises.request;
        const asker: Asker = { type: 'user', id, name };
        return { status: 201, body: answer(await create(caller.tenantId, toRaiseDraft(body), asker, cause)) };
      },
    }),
    defineRoute({
      method: 'get',
      path: ONE,
      operationId: 'getRaise',
      tag: TAG,
      summary: 'Read a raise, or a request for one',
      access: 'member',
      params: ofRaise,
      responses: { 200: { description: 'The raise', schema: raiseRecord } },
      handler: async ({ caller, params }) => ({
        status: 200,
        body: answer(await raises.get(caller.tenantId, params.raise_id)),
      }),
    }),
  ];
}

function routesOfRequests(raises: RaiseUseCases, answer: ToAnswer): Route[] {
  return [
    defineRoute({
      method: 'post',
      audit: 'raise.grant',
      path: `${ONE}:approve`,
      operationId: 'approveRaise',
      tag: TAG,
      summary: 'Approve a request for a raise',
      description: APPROVE,
      access: 'owner',
      params: ofRaise,
      body: approvalBody,
      responses: { 200: { description: 'The raise', schema: raiseRecord } },
      handler: async ({ caller, params, body: { extra_micros: extraMicros, until, token }, cause }) => {
        const approval = { extraMicros, until: until === undefined ? undefined : new Date(until), token };
        return { status: 200, body: answer(await raises.approve(caller.tenantId, params.raise_id, approval, cause)) };
      },
    }),
    defineRoute({
      method: 'post',
      audit: 'raise.decline',
      path: `${ONE}:decline`,
      operationId: 'declineRaise',
      tag: TAG,
      summary: 'Decline a request for a raise',
      description: '`token` and the answers 400 and 409 are as for `:approve`.',
      access: 'owner',
      params: ofRaise,
      body: declineBody,
      responses: { 200: { description: 'The declined request', schema: raiseRecord } },
      handler: async ({ caller, params, body, cause }) => ({
        status: 200,
        body: answer(await raises.decline(caller.tenantId, params.raise_id, body, cause)),
      }),
    }),
  ];
}

function endRoute(raises: RaiseUseCases, answer: ToAnswer): Route {
  return defineRoute({
    method: 'post',
    audit: 'raise.end',
    path: `${ONE}:end`,
    operationId: 'endRaise',
    tag: TAG,
    summary: 'End a raise before its time',
    description:
      'Within two seconds, calls are decided by the limit without it. If more is spent by then, they are denied until the period ends. 409 if the raise is not active.',
    access: 'owner',
    params: ofRaise,
    responses: { 200: { description: 'The raise, which has ended', schema: raiseRecord } },
    handler: async ({ caller, params, cause }) => ({
      status: 200,
      body: answer(await raises.end(caller.tenantId, params.raise_id, cause)),
    }),
  });
}

/** Who changes budgets also raises them. */
function mayGrant({ role }: TenantCaller): boolean {
  return role === 'owner';
}

function placeAt(cursor: string): { createdAt: Date; id: string } {
  const [time, id] = fromCursor(cursor, RAISE_ID);
  return { createdAt: new Date(time), id };
}
