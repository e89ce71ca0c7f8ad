import { defineRoute, type Route } from '@tollkeeper/http';
import { z } from 'zod';
import type { MailLink, ReaderUseCases } from './reader.use-cases.ts';

const PATH = '/api/v1/alert-mails/{token}';
const TAG = 'Alert mails';

const params = z.object({
  token: z.string().max(128).meta({ description: 'The part after # in the link of a mail' }),
});
const linkSchema = z
  .object({
    purpose: z.enum(['confirm', 'stop']).meta({ description: 'Whether the mail asked to confirm, or was an alert' }),
    address: z.string(),
    workspace: z.string().nullable().meta({ description: 'Slug of the workspace; null while it is not known' }),
    channel_name: z.string().nullable().meta({ description: 'For links of alert mails' }),
    answer: z.enum(['none', 'confirmed', 'stopped']).meta({ description: 'Alerts are sent if it is `confirmed`' }),
  })
  .meta({ id: 'AlertMailLink' });
const responses = { 200: { description: 'The link and the answer of its reader', schema: linkSchema } } as const;

function toBody({ slug, channelName, ...link }: MailLink): z.output<typeof linkSchema> {
  return { ...link, workspace: slug, channel_name: channelName };
}

/** For readers of alert mails, who need no account. Reading a link changes nothing, since mail scanners do it too. */
export function createReaderRoutes(readers: ReaderUseCases): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: PATH,
      operationId: 'getAlertMailLink',
      tag: TAG,
      summary: 'Read what the link of a mail is for',
      description: 'For anyone with the link. It changes nothing. 404 for a link that was used or is not valid.',
      access: 'public',
      params,
      responses,
      handler: async ({ params: { token } }) => ({ status: 200, body: toBody(await readers.find(token)) }),
    }),
    defineRoute({
      method: 'post',
      audit: 'channel.confirm',
      path: `${PATH}:confirm`,
      operationId: 'confirmAlertMail',
      tag: TAG,
      summary: 'Confirm an address for alerts',
      description:
        'The link of the mail that asks works once, within 7 days. The link of an alert mail confirms the address again after a stop.',
      access: 'public',
      params,
      responses,
      handler: async ({ params: { token }, cause }) => ({
        status: 200,
        body: toBody(await readers.confirm(token, cause)),
      }),
    }),
    defineRoute({
      method: 'post',
      audit: 'channel.stop',
      path: `${PATH}:stop`,
      operationId: 'stopAlertMail',
      tag: TAG,
      summary: 'Stop alerts to an address',
      description:
        'No more mail from this channel to this address, whatever its admins do. Mail programs may send it (RFC 8058), with any body.',
      access: 'public',
      params,
      responses,
      handler: async ({ params: { token }, cause }) => ({
        status: 200,
        body: toBody(await readers.stop(token, cause)),
      }),
    }),
  ];
}
