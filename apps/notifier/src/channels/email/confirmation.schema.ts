import { moment } from '@tollkeeper/contracts';
import { z } from 'zod';
import { type Confirmation, CONFIRMATION_STATES } from './reader.ts';

const confirmationState = z.enum(CONFIRMATION_STATES).meta({
  description:
    '`queued`: the mail with the link waits to be sent; `asked`: it was sent; `expired`: nobody confirmed in time; ' +
    '`unsent`: the limit of such mails is reached, or the mail server rejects the address; `confirmed`: the address ' +
    'gets alerts; `stopped`: its reader wants none',
});

export const confirmationSchema = z
  .object({
    address: z.string(),
    state: confirmationState,
    asked_at: moment.nullable().meta({ description: 'When the last mail with a link was sent' }),
  })
  .meta({ id: 'AlertChannelConfirmation' });

export function toConfirmationBody({ address, state, askedAt }: Confirmation): z.output<typeof confirmationSchema> {
  return { address, state, asked_at: askedAt?.toISOString() ?? null };
}
