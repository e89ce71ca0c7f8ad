import { defineRoute, mergePatch, mergePatchBodies, parseMerged, type Route } from '@tollkeeper/http';
import { z } from 'zod';
import type { ChannelDraft } from './channel.ts';
import type { ChannelUseCases } from './channel.use-cases.ts';
import { emailAddress } from './email/email.channel.ts';
import type { AddressPolicy } from './destination.ts';
import { refuseToMoveCredentials } from './moved.credentials.ts';
import {
  channelBodyOf,
  channelParams,
  channelPatch,
  channelRecord,
  fromDraft,
  toChannelRecord,
  toDraft,
} from './channel.schemas.ts';

const PATH = '/api/v1/alerts/channels';
const TAG = 'Alert channels';

const testResult = z
  .object({
    ResponseStatus: z.int().meta({ description: 'HTTP status of the response' }),
    ResponseSnippet: z.string().meta({ description: 'Beginning of the response body, at most 1 KiB' }),
  })
  .meta({ id: 'AlertChannelTestResult' });

/** Alert channels, for admins. */
export function createChannelRoutes(channels: ChannelUseCases, allowsAddress: AddressPolicy): Route[] {
  const channelBody = channelBodyOf(allowsAddress);
  return [...routesOfAll(channels, channelBody), ...routesOfOne(channels, channelBody), ...routesThatSend(channels)];
}

type ChannelBody = ReturnType<typeof channelBodyOf>;

function routesOfAll(channels: ChannelUseCases, channelBody: ChannelBody): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: PATH,
      operationId: 'listAlertChannels',
      tag: TAG,
      summary: 'List the channels of the workspace',
      access: 'admin',
      responses: {
        200: { description: 'The channels, oldest first', schema: z.object({ items: z.array(channelRecord) }) },
      },
      handler: async ({ caller }) => {
        const items = (await channels.list(caller.tenantId)).map(toChannelRecord);
        return { status: 200, body: { items } };
      },
    }),
    defineRoute({
      method: 'post',
      audit: 'channel.create',
      path: PATH,
      operationId: 'createAlertChannel',
      tag: TAG,
      summary: 'Create a channel',
      description: 'At most 100 channels in a workspace.',
      access: 'admin',
      body: channelBody,
      responses: { 201: { description: 'The new channel', schema: channelRecord } },
      handler: async ({ caller, body, cause }) => {
        const channel = await channels.create(caller.tenantId, toDraft(body), cause);
        return { status: 201, body: toChannelRecord(channel) };
      },
    }),
  ];
}

function routesOfOne(channels: ChannelUseCases, channelBody: ChannelBody): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: `${PATH}/{channel_id}`,
      operationId: 'getAlertChannel',
      tag: TAG,
      summary: 'Read a channel',
      access: 'admin',
      params: channelParams,
      responses: { 200: { description: 'The channel', schema: channelRecord } },
      handler: async ({ caller, params }) => {
        const channel = await channels.get(caller.tenantId, params.channel_id);
        return { status: 200, body: toChannelRecord(channel) };
      },
    }),
    defineRoute({
      method: 'patch',
      audit: 'channel.update',
      path: `${PATH}/{channel_id}`,
      operationId: 'editAlertChannel',
      tag: TAG,
      summary: 'Change a channel',
      description:
        'The change applies to everything sent afterwards, including retries. A `url` on another host needs the ' +
        '`routing_key` or `api_key` again.',
      access: 'admin',
      params: channelParams,
      body: mergePatchBodies(channelPatch),
      responses: { 200: { description: 'The channel as it is now', schema: channelRecord } },
      handler: async ({ caller, params, body, cause }) => {
        const edit = (current: ChannelDraft): ChannelDraft => {
          const draft = toDraft(parseMerged(channelBody, mergePatch(fromDraft(current), body)));
          refuseToMoveCredentials(current.destination, draft.destination, body.config ?? {});
          return draft;
        };
        const channel = await channels.edit(caller.tenantId, params.channel_id, edit, cause);
        return { status: 200, body: toChannelRecord(channel) };
      },
    }),
    defineRoute({
      method: 'delete',
      audit: 'channel.delete',
      path: `${PATH}/{channel_id}`,
      operationId: 'deleteAlertChannel',
      tag: TAG,
      summary: 'Delete a channel',
      description: 'The channel is removed from the rules that name it. The rules stay.',
      access: 'admin',
      params: channelParams,
      responses: { 204: { description: 'The channel is deleted' } },
      handler: async ({ caller, params, cause }) => {
        await channels.delete(caller.tenantId, params.channel_id, cause);
        return { status: 204 };
      },
    }),
  ];
}

function routesThatSend(channels: ChannelUseCases): Route[] {
  return [
    defineRoute({
      method: 'post',
      audit: 'channel.test',
      path: `${PATH}/{channel_id}/test`,
      operationId: 'testAlertChannel',
      tag: TAG,
      summary: 'Send a test notification to a channel',
      description:
        'Sends one example notification, which opens an incident in `pagerduty` and `opsgenie`, and waits up to 15 seconds, even if the channel is disabled. It is ' +
        'not retried. 502 `destination_unreachable` if the destination does not answer, 502 `destination_blocked` if ' +
        'its address is not allowed, or no address of `email` is confirmed. 250 means that the mail server has taken the mails.',
      access: 'admin',
      params: channelParams,
      responses: { 200: { description: 'The response of the destination, whatever its status', schema: testResult } },
      handler: async ({ caller, params, cause }) => {
        const { responseStatus, responseSnippet } = await channels.test(caller.tenantId, params.channel_id, cause);
        return { status: 200, body: { ResponseStatus: responseStatus, ResponseSnippet: responseSnippet } };
      },
    }),
    defineRoute({
      method: 'post',
      audit: 'channel.ask',
      path: `${PATH}/{channel_id}/confirmations`,
      operationId: 'askAlertChannelReader',
      tag: TAG,
      summary: 'Ask the reader of an address again to confirm it',
      description:
        'Sends another mail with a link, unless one is waiting. An address gets at most 5 such mails within 7 days, from ' +
        'all workspaces, and a workspace sends at most 100 a day; beyond that, the address stays `unsent`. 409 if the ' +
        'reader has confirmed, or wants no mail.',
      access: 'admin',
      params: channelParams,
      body: z.strictObject({ address: emailAddress }),
      responses: { 202: { description: 'The channel. The mail is on its way.', schema: channelRecord } },
      handler: async ({ caller, params, body, cause }) => {
        const channel = await channels.ask(caller.tenantId, params.channel_id, body.address, cause);
        return { status: 202, body: toChannelRecord(channel) };
      },
    }),
  ];
}
