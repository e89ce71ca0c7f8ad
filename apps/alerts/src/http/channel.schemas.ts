import { CHANNEL_TYPES, displayName, moment } from '@tollkeeper/contracts';
import { z } from 'zod';
import type { Channel, ChannelDraft, Destination } from '../domain/channel.ts';
import { type AddressPolicy, findUrlProblem, maskUrl, MAX_URL_LENGTH } from '../domain/destination.ts';
import { patchShape } from './schemas.ts';

const MAX_SECRET_LENGTH = 512;
/** Less could be found by trying, from one delivery and its signature. */
const MIN_SECRET_BYTES = 16;

const name = displayName.meta({ description: 'Display name of the channel', example: 'Platform team' });
const channelType = z.enum(CHANNEL_TYPES).meta({
  description: '`chat`: incoming webhook of a chat service; `webhook`: Standard Webhooks',
});
const url = z.string().meta({
  description: 'https URL. Private and other special addresses are refused.',
  format: 'uri',
  maxLength: MAX_URL_LENGTH,
  example: 'https://hooks.example.com/tollkeeper',
});
const signingSecret = z
  .string()
  .min(1, { error: 'must not be empty', abort: true })
  .max(MAX_SECRET_LENGTH, `must be at most ${MAX_SECRET_LENGTH} characters`)
  .refine(isUsableSecret, { error: 'must hold base64 behind whsec_', abort: true })
  .refine(
    (secret) => byteLength(secret) >= MIN_SECRET_BYTES,
    `must have at least ${MIN_SECRET_BYTES} bytes, such as whsec_ and the base64 of 24 random bytes`,
  )
  .meta({
    description:
      `Key that signs notifications: \`whsec_<base64>\`, or any other text, which is used as UTF-8; at least ${MIN_SECRET_BYTES} bytes. ` +
      'No answer shows it.',
    example: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD',
  });

function isUsableSecret(secret: string): boolean {
  if (!secret.startsWith('whsec_')) return true;
  const base64 = secret.slice('whsec_'.length);
  return base64 !== '' && base64.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(base64);
}

/** The bytes that sign: those behind `whsec_`, or the UTF-8 of any other text. */
function byteLength(secret: string): number {
  if (!secret.startsWith('whsec_')) return Buffer.byteLength(secret);
  return Buffer.byteLength(secret.slice('whsec_'.length), 'base64');
}

/** A whole channel as a person sends it. */
export type ChannelBody = ReturnType<typeof channelBodyOf>;

/** `allowsAddress` judges addresses that stand in a URL. */
export function channelBodyOf(allowsAddress: AddressPolicy) {
  const destinationUrl = url.check((ctx) => {
    const message = findUrlProblem(ctx.value, allowsAddress);
    if (message !== null) ctx.issues.push({ code: 'custom', input: ctx.value, message });
  });
  const common = { name: name.optional(), enabled: z.boolean().default(true) };
  const chat = z.strictObject({
    ...common,
    channel_type: z.literal('chat'),
    config: z.strictObject({ webhook_url: destinationUrl }),
  });
  const webhook = z.strictObject({
    ...common,
    channel_type: z.literal('webhook'),
    config: z.strictObject({ url: destinationUrl, signing_secret: signingSecret.optional() }),
  });
  return z
    .discriminatedUnion('channel_type', [chat, webhook], {
      error: (issue) => (issue.code === 'invalid_union' ? `must be ${CHANNEL_TYPES.join(' or ')}` : undefined),
    })
    .meta({ id: 'AlertChannelInput' });
}

export const channelPatch = z
  .strictObject(
    patchShape({
      name,
      enabled: z.boolean(),
      channel_type: channelType,
      config: z.strictObject(patchShape({ url, webhook_url: url, signing_secret: signingSecret })),
    }),
  )
  .meta({
    id: 'AlertChannelPatch',
    description: 'A JSON Merge Patch (RFC 7396) of a channel. Fields of `config` that are left out keep their values.',
  });

const recordFields = {
  id: z.string(),
  tenant_id: z.string(),
  name: z.string().nullable(),
  enabled: z
    .boolean()
    .meta({ description: 'Whether notifications are sent. A destination that answers 410 sets it to false.' }),
  created_at: moment,
  updated_at: moment,
};
export const channelRecord = z
  .discriminatedUnion('channel_type', [
    z.object({
      ...recordFields,
      channel_type: z.literal('chat'),
      config: z.object({
        webhook_url: z.string().meta({ description: 'The URL with its path masked, because the path is secret' }),
      }),
    }),
    z.object({
      ...recordFields,
      channel_type: z.literal('webhook'),
      config: z.object({ url: z.string(), signing_secret_set: z.boolean() }),
    }),
  ])
  .meta({ id: 'AlertChannel' });

export function toDraft(body: z.output<ChannelBody>): ChannelDraft {
  return { name: body.name ?? null, enabled: body.enabled, destination: toDestination(body) };
}

function toDestination(body: z.output<ChannelBody>): Destination {
  switch (body.channel_type) {
    case 'chat':
      return { type: 'chat', webhookUrl: body.config.webhook_url };
    case 'webhook':
      return { type: 'webhook', url: body.config.url, signingSecret: body.config.signing_secret ?? null };
  }
}

/** The part of a channel that a person writes, secrets included, and a patch changes. */
export function fromDraft({ name: given, enabled, destination }: ChannelDraft): z.input<ChannelBody> {
  const common = { ...(given !== null && { name: given }), enabled };
  switch (destination.type) {
    case 'chat':
      return { ...common, channel_type: 'chat', config: { webhook_url: destination.webhookUrl } };
    case 'webhook': {
      const { url: to, signingSecret: secret } = destination;
      const config = { url: to, ...(secret !== null && { signing_secret: secret }) };
      return { ...common, channel_type: 'webhook', config };
    }
  }
}

/** The channel as answers show it: secrets are written, never read. */
export function toChannelRecord(channel: Channel): z.output<typeof channelRecord> {
  const { destination } = channel;
  const common = {
    id: channel.id,
    tenant_id: channel.tenantId,
    name: channel.name,
    enabled: channel.enabled,
    created_at: channel.createdAt.toISOString(),
    updated_at: channel.updatedAt.toISOString(),
  };
  switch (destination.type) {
    case 'chat':
      return { ...common, channel_type: 'chat', config: { webhook_url: maskUrl(destination.webhookUrl) } };
    case 'webhook': {
      const config = { url: destination.url, signing_secret_set: destination.signingSecret !== null };
      return { ...common, channel_type: 'webhook', config };
    }
  }
}
