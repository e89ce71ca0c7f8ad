import { z } from 'zod';
import { channelKind, LONG_PAUSES_MS } from '../channel.kind.ts';
import { confirmationSchema, toConfirmationBody } from './confirmation.schema.ts';

/** Maximum number of addresses of a channel. */
const MAX_ADDRESSES = 20;
const MAX_ADDRESS_LENGTH = 254;

export const emailAddress = z
  .email('must be an e-mail address')
  .max(MAX_ADDRESS_LENGTH, `must have at most ${MAX_ADDRESS_LENGTH} characters`)
  .toLowerCase();

const addresses = z
  .array(emailAddress)
  .min(1, 'must have at least one address')
  .max(MAX_ADDRESSES, `must have at most ${MAX_ADDRESSES} addresses; create another channel for more`)
  .refine((list) => new Set(list).size === list.length, 'must not name an address twice')
  .meta({ description: 'E-mail addresses, each of which gets a mail to confirm it', example: ['ada@example.com'] });

/** Mail to people. Each address gets alerts once its reader has confirmed it. */
export const email = channelKind({
  description: 'e-mail to addresses that their readers have confirmed',
  config: () => z.strictObject({ addresses }),
  shown: z.object({
    addresses: z.array(z.string()),
    confirmations: z.array(confirmationSchema).meta({ description: 'One for each address, in the same order' }),
  }),
  show: ({ addresses: list }, confirmations) => ({
    addresses: list,
    confirmations: confirmations.map(toConfirmationBody),
  }),
  address: () => null,
  readers: ({ addresses: list }) => list,
  credentials: () => ({}),
  auditedAs: { addresses: 'addresses' },
  request: ({ addresses: list }, message) => ({ via: 'mail', addresses: list, message }),
  // A mail is read hours later.
  retryPausesMs: LONG_PAUSES_MS,
});
