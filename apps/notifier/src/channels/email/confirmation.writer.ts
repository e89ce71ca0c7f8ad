import type { TenantId } from '@tollkeeper/kernel';
import type { Mail } from '@tollkeeper/mail';
import type { ChannelStore } from '../channel.ts';
import { readersOf } from '../channel.kinds.ts';
import { confirmationMail } from './confirmation.mail.ts';
import type { MailLimits } from './mail.limits.ts';
import { type ConfirmationOrder, keyOf } from './reader.ts';
import type { MongoReaderStore } from './reader.store.ts';

export interface ConfirmationWriterDeps {
  channels: Pick<ChannelStore, 'find'>;
  readers: Pick<MongoReaderStore, 'markCounted' | 'issueLink'>;
  limits: Pick<MailLimits, 'count'>;
  slugOf: (tenantId: TenantId) => Promise<string | undefined>;
  publicUrl: string;
}

/** The page of the link in a mail. Browsers do not send what is after the #, so no log of page requests has it. */
export function pageOf(publicUrl: string, token: string): string {
  return `${publicUrl}/alert-mail#${token}`;
}

/** Makes the mail of an order, with a new link; null if nobody needs it any more, or a limit is reached. */
export function createConfirmationWriter(deps: ConfirmationWriterDeps) {
  const { channels, readers, limits, slugOf, publicUrl } = deps;

  return async ({ reader, isCounted }: ConfirmationOrder): Promise<Mail | null> => {
    const { id, tenantId, channelId, addressKey } = reader;
    const channel = await channels.find(tenantId, channelId);
    const to = channel && readersOf(channel.destination).find((address) => keyOf(address) === addressKey);
    if (!to || reader.answer !== 'none') return null;
    if (!isCounted) {
      if (!(await limits.count(tenantId, addressKey))) return null;
      await readers.markCounted(id);
    }
    const slug = await slugOf(tenantId);
    const { token, expiresAt } = await readers.issueLink(id);
    return confirmationMail({ to, slug, url: pageOf(publicUrl, token), expiresAt });
  };
}
