import { CHANNEL_TYPES, type ChannelType, displayName, identifier, moment } from '@tollkeeper/contracts';
import { patchShape } from '@tollkeeper/http';
import { z } from 'zod';
import type { ChannelDraft, ConfirmedChannel } from './channel.ts';
import {
  CHANNEL_KINDS,
  type ConfigSchemas,
  type Destination,
  shownConfig,
  type ShownSchemas,
} from './channel.kinds.ts';
import { type AddressPolicy, findUrlProblem, MAX_URL_LENGTH } from './destination.ts';

const name = displayName.meta({ description: 'Display name of the channel', example: 'Platform team' });
const channelType = z.enum(CHANNEL_TYPES).meta({
  description: ofEachType((type) => `\`${type}\`: ${CHANNEL_KINDS[type].description}`).join('; '),
});
const url = z.string().meta({
  description: 'https URL. Private and other special addresses are refused.',
  format: 'uri',
  maxLength: MAX_URL_LENGTH,
  example: 'https://hooks.example.com/tollkeeper',
});

export const channelParams = z.object({ channel_id: identifier.meta({ description: 'Id of the channel' }) });

const common = { name: name.optional(), enabled: z.boolean().default(true) };
/** A channel of each type in the form of requests. */
type BodySchemas = {
  [T in ChannelType]: z.ZodObject<
    typeof common & { channel_type: z.ZodLiteral<T>; config: ConfigSchemas[T] },
    z.core.$strict
  >;
};

/** A complete channel in the form of requests. */
export type ChannelBody = ReturnType<typeof channelBodyOf>;

/** `allowsAddress` checks IP addresses in URLs. */
export function channelBodyOf(allowsAddress: AddressPolicy) {
  const destinationUrl = url.check((ctx) => {
    const message = findUrlProblem(ctx.value, allowsAddress);
    if (message !== null) ctx.issues.push({ code: 'custom', input: ctx.value, message });
  });
  const bodies = ofEachType((type) => {
    const config = CHANNEL_KINDS[type].config(destinationUrl);
    return z.strictObject({ ...common, channel_type: z.literal(type), config });
  }) as OneOf<BodySchemas>;
  return z
    .discriminatedUnion('channel_type', bodies, {
      error: (issue) =>
        issue.code === 'invalid_union'
          ? `must be ${CHANNEL_TYPES.slice(0, -1).join(', ')} or ${CHANNEL_TYPES.at(-1)}`
          : undefined,
    })
    .meta({ id: 'AlertChannelInput' });
}

export const channelPatch = z
  .strictObject(
    patchShape({
      name,
      enabled: z.boolean(),
      channel_type: channelType,
      // The merged channel is validated later, since only then is it known whether the fields fit together.
      config: z.strictObject(
        patchShape(Object.assign({}, ...ofEachType((type) => CHANNEL_KINDS[type].config(url).shape)) as AnyFields),
      ),
    }),
  )
  .meta({
    id: 'AlertChannelPatch',
    description: 'A JSON Merge Patch (RFC 7396) of a channel. Omitted fields of `config` keep their values.',
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
type RecordSchemas = {
  [T in ChannelType]: z.ZodObject<typeof recordFields & { channel_type: z.ZodLiteral<T>; config: ShownSchemas[T] }>;
};
const records = ofEachType((type) =>
  z.object({ ...recordFields, channel_type: z.literal(type), config: CHANNEL_KINDS[type].shown }),
) as OneOf<RecordSchemas>;
export const channelRecord = z.discriminatedUnion('channel_type', records).meta({ id: 'AlertChannel' });

type AnyFields = Record<string, z.ZodType>;
/** The schemas of a union. TypeScript cannot infer that each belongs to its own type. */
type OneOf<Schemas extends Record<ChannelType, z.ZodType>> = [Schemas[ChannelType], ...Schemas[ChannelType][]];

function ofEachType<R>(of: (type: ChannelType) => R): R[] {
  return CHANNEL_TYPES.map(of);
}

export function toDraft(body: z.output<ChannelBody>): ChannelDraft {
  const destination = { type: body.channel_type, config: body.config } as Destination;
  return { name: body.name ?? null, enabled: body.enabled, destination };
}

/** The editable part of a channel, including secrets. */
export function fromDraft({ name: given, enabled, destination }: ChannelDraft): z.input<ChannelBody> {
  const { type: channel_type, config } = destination;
  return { ...(given !== null && { name: given }), enabled, channel_type, config } as z.input<ChannelBody>;
}

/** The channel in the form of answers, without secrets. */
export function toChannelRecord({ destination, ...channel }: ConfirmedChannel): z.output<typeof channelRecord> {
  return {
    id: channel.id,
    tenant_id: channel.tenantId,
    name: channel.name,
    enabled: channel.enabled,
    channel_type: destination.type,
    config: shownConfig(destination, channel.confirmations),
    created_at: channel.createdAt.toISOString(),
    updated_at: channel.updatedAt.toISOString(),
  } as z.output<typeof channelRecord>;
}
