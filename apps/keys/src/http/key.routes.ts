import { identifier, KEY_ROLES, labels, MAX_LABELS, moment, reportMapping } from '@tollkeeper/contracts';
import { defineRoute, type Route } from '@tollkeeper/http';
import { z } from 'zod';
import type { CreatedKey, KeyUseCases } from '../domain/key.use-cases.ts';
import type { KeyChange, WorkspaceKey } from '../domain/workspace-key.ts';

const PATH = '/api/v1/management/workspace-keys';
const TAG = 'Workspace keys';

const keyName = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(80, 'must be at most 80 characters')
  .regex(/^[ -~\u00a0-\uffff]*$/, 'must not contain control characters')
  .meta({ description: 'Purpose of the key', example: 'eu-1 gateway' });
const keyRole = z.enum(KEY_ROLES).meta({
  id: 'WorkspaceKeyRole',
  description: '`developer` and `admin` keys may post events, `read_only` keys may not',
});
const keyLabels = labels.meta({
  description:
    `Labels of every call that is made with the key: at most ${MAX_LABELS}, each with a value of 1–128 printable ` +
    'characters. They win over labels of the same name that the agent or the call has',
});
const keyFields = {
  ...{ id: z.string(), name: z.string(), role: keyRole, labels: keyLabels },
  reports: reportMapping,
  created_at: moment,
};
const keyChange = z
  .strictObject({ labels: keyLabels.optional(), reports: reportMapping.optional() })
  .refine(({ labels: pinned, reports }) => pinned !== undefined || reports !== undefined, {
    error: 'must have labels or reports',
  });
const ofKey = z.object({ id: identifier.meta({ description: 'Id of the key' }) });

const keyRecord = z
  .object({
    ...keyFields,
    last_used_at: moment
      .nullable()
      .meta({ description: 'At most a minute behind; the first use is recorded immediately. Null if never used' }),
    revoked_at: moment.nullable().meta({ description: 'Null while the key is valid' }),
  })
  .meta({ id: 'WorkspaceKey' });
const createdKey = z
  .object({
    ...keyFields,
    api_key: z.string().meta({ description: '`ws_live_<id>.<secret>`; shown only once' }),
  })
  .meta({ id: 'CreatedWorkspaceKey' });

/** The management of workspace keys, for owners. */
export function createKeyRoutes(useCases: KeyUseCases): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: PATH,
      operationId: 'listWorkspaceKeys',
      tag: TAG,
      summary: 'List the keys of the workspace',
      description: 'The valid keys, newest first, then up to 500 revoked keys, most recently revoked first.',
      access: 'owner',
      responses: {
        200: { description: 'The keys, without their secrets', schema: z.object({ items: z.array(keyRecord) }) },
      },
      handler: async ({ caller }) => {
        const keys = await useCases.list(caller.tenantId);
        return { status: 200, body: { items: keys.map(toKeyRecord) } };
      },
    }),
    defineRoute({
      method: 'post',
      audit: 'key.create',
      path: PATH,
      operationId: 'createWorkspaceKey',
      tag: TAG,
      summary: 'Create a key',
      description: 'Only this response has the key. Store it immediately.',
      access: 'owner',
      body: z.strictObject({
        ...{ name: keyName, role: keyRole, labels: keyLabels.default({}) },
        reports: reportMapping.optional(),
      }),
      responses: { 201: { description: 'The new key', schema: createdKey } },
      handler: async ({ caller, body, cause }) => {
        const { name, role } = body;
        const key = await useCases.create(caller.tenantId, { name, role, ...toChange(body) }, cause);
        return { status: 201, body: { ...toKeyBody(key), api_key: key.apiKey } };
      },
    }),
    defineRoute({
      method: 'patch',
      audit: 'key.update',
      path: `${PATH}/{id}`,
      operationId: 'updateWorkspaceKey',
      tag: TAG,
      summary: 'Change the labels of a key, or how its reports are read',
      description:
        '`labels` replaces all labels of the key; `{}` removes them. `reports` replaces all of how its reports are ' +
        'read; fields that are left out have their defaults again. New calls count as changed within 5 seconds. ' +
        'For each name, the first source that has it wins: the key, the agent, the call. A reservation that gives a ' +
        'label of its key another value gets 403 `label_pinned`; an event is taken, with the value of the key. 409 ' +
        'if the key is revoked.',
      access: 'owner',
      params: ofKey,
      body: keyChange,
      responses: { 200: { description: 'The key as it is now', schema: keyRecord } },
      handler: async ({ caller, params, body, cause }) => {
        const key = await useCases.update(caller.tenantId, params.id, toChange(body), cause);
        return { status: 200, body: toKeyRecord(key) };
      },
    }),
    defineRoute({
      method: 'post',
      audit: 'key.revoke',
      path: `${PATH}/{id}:revoke`,
      operationId: 'revokeWorkspaceKey',
      tag: TAG,
      summary: 'Revoke a key permanently',
      description: 'The key is refused everywhere within 5 seconds. Revoking it again changes nothing.',
      access: 'owner',
      params: ofKey,
      responses: { 200: { description: 'The key is revoked', schema: z.object({ ok: z.literal(true) }) } },
      handler: async ({ caller, params, cause }) => {
        await useCases.revoke(caller.tenantId, params.id, cause);
        return { status: 200, body: { ok: true as const } };
      },
    }),
  ];
}

/** What is given of the labels and of how reports are read. */
function toChange({ labels: pinned, reports }: z.output<typeof keyChange>): KeyChange {
  if (reports === undefined) return pinned === undefined ? {} : { labels: pinned };
  const { price_anew: priceAnew, ...names } = reports;
  return { ...(pinned !== undefined && { labels: pinned }), reports: { ...names, priceAnew } };
}

function toKeyBody({ id, name, role, labels: pinned, reports, createdAt }: Omit<CreatedKey, 'apiKey'>) {
  const { priceAnew: price_anew, ...names } = reports;
  return { id, name, role, labels: pinned, reports: { ...names, price_anew }, created_at: createdAt.toISOString() };
}

function toKeyRecord(key: WorkspaceKey): z.infer<typeof keyRecord> {
  return {
    ...toKeyBody(key),
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
    revoked_at: key.revokedAt?.toISOString() ?? null,
  };
}
