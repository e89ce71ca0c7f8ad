import { randomBytes, randomUUID } from 'node:crypto';
import { type ApiAnswer, type ApiClient, type ApiRequest, anonymous, createClient } from './api.client.ts';
import type { Role } from '@tollkeeper/kernel';
import type { CloudEvent } from './events.ts';
import { rememberSecret } from './secrets.ts';
import type { Target } from './target.ts';

export const KEYS_PATH = '/api/v1/management/workspace-keys';
export const EVENTS_PATH = '/api/v1/events';

/** A workspace that only one suite uses, so that its numbers are exact. */
export interface TestWorkspace {
  id: string;
  slug: string;
  /** Path in this workspace: `path('/agents')` is `/w/{slug}/api/v1/agents`. */
  path(below: string): string;
  /** A `developer` key. */
  apiKey: string;
}

export async function newWorkspace(owner: ApiClient, timezone = 'UTC'): Promise<TestWorkspace> {
  const slug = `e2e-${randomBytes(6).toString('hex')}`;
  const { id } = await owner.expect<{ id: string }>({
    method: 'POST',
    path: '/api/v1/workspaces',
    body: { slug, name: 'End to end', timezone },
    status: 201,
  });
  const path = (below: string) => `/w/${slug}/api/v1${below}`;
  const apiKey = await newKey(owner, slug, 'developer');
  return { id, slug, path, apiKey: apiKey.api_key };
}

export interface NewKey {
  id: string;
  name: string;
  role: string;
  labels: Record<string, string>;
  created_at: string;
  api_key: string;
}

export async function newKey(owner: ApiClient, slug: string, role: string): Promise<NewKey> {
  const path = `/w/${slug}${KEYS_PATH}`;
  const key = await owner.expect<NewKey>({ method: 'POST', path, body: { name: `e2e ${role}`, role }, status: 201 });
  rememberSecret(key.api_key);
  rememberSecret(key.api_key.split('.')[1] ?? '');
  return key;
}

/** The token of a new invitation to the workspace. */
export async function invite(
  owner: ApiClient,
  workspace: TestWorkspace,
  role: Role,
  email = `${role}-${randomUUID()}@e2e.example.com`,
): Promise<string> {
  const body = { email, role };
  const path = workspace.path('/invitations');
  const { url } = await owner.expect<{ url: string }>({ method: 'POST', path, body, status: 201 });
  const token = new URL(url).hash.slice(1);
  rememberSecret(token);
  return token;
}

/** The request that accepts an invitation. */
export function acceptance(token: string, body: object): ApiRequest {
  return { method: 'POST', path: `/api/v1/invitations/${token}:accept`, body };
}

/** A new user with this role in the workspace, logged in. */
export async function newMember(
  target: Target,
  owner: ApiClient,
  workspace: TestWorkspace,
  role: Role,
): Promise<ApiClient> {
  const password = randomBytes(16).toString('hex');
  const token = await invite(owner, workspace, role);
  const joined = await anonymous(target).call(acceptance(token, { name: `The ${role}`, password }));
  const cookie = joined.headers['set-cookie']?.[0]?.split(';')[0];
  if (joined.status !== 200 || cookie === undefined) throw new Error(`joining: ${joined.status} ${joined.text}`);
  rememberSecret(password);
  rememberSecret(cookie.replace('gw_session=', ''));
  return createClient(target, cookie);
}

/** Posts events with a key, as a gateway does: one as an event, several as a batch. */
export function postEvents(target: Target, apiKey: string, events: CloudEvent | CloudEvent[]): Promise<ApiAnswer> {
  const type = Array.isArray(events) ? 'application/cloudevents-batch+json' : 'application/cloudevents+json';
  const headers = { 'content-type': type, authorization: `Bearer ${apiKey}` };
  return anonymous(target).call({ method: 'POST', path: EVENTS_PATH, body: JSON.stringify(events), headers });
}

/** The same for events that must be accepted. */
export async function reportEvents(...args: Parameters<typeof postEvents>): Promise<void> {
  const { status, text } = await postEvents(...args);
  if (status !== 202) throw new Error(`the events were not accepted: ${status} ${text}`);
}
