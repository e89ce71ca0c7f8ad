import type { ChannelType } from '@tollkeeper/contracts';
import { CALLER_HEADER, signCallerToken } from '@tollkeeper/http';
import type { Role, TenantId } from '@tollkeeper/kernel';
import { CALLER_TOKEN_SECRET, expectMatchesOpenApi, type OpenApiDocument } from '@tollkeeper/testing';
import supertest, { type Response } from 'supertest';

const PATH = '/api/v1/alerts/channels';
const MAILS = '/api/v1/alert-mails';

export type Method = 'get' | 'post' | 'patch' | 'delete';
export type Body = Record<string, unknown>;

export interface CallOptions {
  role?: Role;
  /** Sent instead of a caller token; null sends none. */
  token?: string | null;
  contentType?: string;
  body?: unknown;
}

/** A channel created by a test. */
export interface TestChannel {
  tenantId: TenantId;
  id: string;
  type: ChannelType;
}

export interface ChannelFields {
  type?: ChannelType;
  enabled?: boolean;
  /** Only for webhooks. */
  signingSecret?: string;
}

/** The API of channels as called by the gateway. Every answer is checked against the service's OpenAPI document. */
export function createChannelApi(httpUrl: () => string) {
  let document: OpenApiDocument | undefined;

  async function checked(method: Method, path: string, response: Response): Promise<Response> {
    document ??= (await supertest(httpUrl()).get('/openapi.json')).body as OpenApiDocument;
    const answered = response.status === 204 ? undefined : (response.body as unknown);
    expectMatchesOpenApi(document, { method, path, status: response.status, body: answered });
    return response;
  }

  /** A call of the link in a mail: without a session, and with the body that mail programs send. */
  async function link(token: string, does?: 'confirm' | 'stop'): Promise<Response> {
    const path = `${MAILS}/${token}${does === undefined ? '' : `:${does}`}`;
    const http = supertest(httpUrl());
    if (does === undefined) return checked('get', path, await http.get(path));
    return checked('post', path, await http.post(path).type('form').send('List-Unsubscribe=One-Click'));
  }

  async function call(
    method: Method,
    tenantId: TenantId,
    below: string,
    { role = 'admin', body, contentType = 'application/json', ...rest }: CallOptions = {},
  ): Promise<Response> {
    const caller = { userId: 'user_1', tenantId, role };
    const { token = await signCallerToken(CALLER_TOKEN_SECRET, 'notifier', caller) } = rest;
    const path = `${PATH}${below}`;
    const request = supertest(httpUrl())[method](path);
    if (token !== null) request.set(CALLER_HEADER, token);
    const response = await (body === undefined
      ? request
      : request.set('content-type', contentType).send(JSON.stringify(body)));
    return checked(method, path, response);
  }

  /** The body of an answer, which must have the status. */
  async function expecting(status: number, ...args: Parameters<typeof call>): Promise<Body> {
    const response = await call(...args);
    if (response.status !== status) throw new Error(`${response.status}: ${JSON.stringify(response.body)}`);
    return response.body as Body;
  }

  const createChannel = (tenantId: TenantId, changes: Body = {}) =>
    expecting(201, 'post', tenantId, '', { body: { ...webhookBody, ...changes } }) as Promise<Body & { id: string }>;

  return {
    call,
    link,
    expecting,
    createChannel,
    /** Adds a new enabled webhook, with the given changes. */
    async addChannel(tenantId: TenantId, url: string, fields: ChannelFields = {}): Promise<TestChannel> {
      const { type = 'webhook', enabled = true, signingSecret: signing_secret } = fields;
      const configs: Record<ChannelType, Body> = {
        chat: { webhook_url: url },
        teams: { webhook_url: url },
        webhook: { url, signing_secret },
        pagerduty: { url, routing_key: ROUTING_KEY },
        opsgenie: { url, api_key: API_KEY },
        email: { addresses: ['ada@people.example.com'] },
      };
      const { id } = await createChannel(tenantId, { channel_type: type, enabled, config: configs[type] });
      return { tenantId, id, type };
    },
    patchChannel: ({ tenantId, id }: TestChannel, body: Body) => expecting(200, 'patch', tenantId, `/${id}`, { body }),
    deleteChannel: ({ tenantId, id }: TestChannel) => expecting(204, 'delete', tenantId, `/${id}`),
  };
}

/** The secrets of channels of incident tools. */
export const ROUTING_KEY = 'R0UT1NGKEYofASERV1CEinPAGERDUTY1';
export const API_KEY = 'eb243592-faa2-4ba2-a551-1afdf565c889';

export const webhookBody = { channel_type: 'webhook', config: { url: 'https://hooks.example.com/in' } };
