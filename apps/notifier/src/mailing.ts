import { createMailWorker, createSmtpSender, mailSettingsOf } from '@tollkeeper/mail';
import type { Route } from '@tollkeeper/http';
import type { Component } from '@tollkeeper/runtime';
import type { ServiceBase } from '@tollkeeper/service';
import type { ChannelStore } from './channels/channel.ts';
import { createConfirmationWriter, pageOf } from './channels/email/confirmation.writer.ts';
import { createMailLimits } from './channels/email/mail.limits.ts';
import { createReaderRoutes } from './channels/email/reader.routes.ts';
import type { MongoReaderStore } from './channels/email/reader.store.ts';
import { createReaderUseCases } from './channels/email/reader.use-cases.ts';
import { createStopTokens } from './channels/email/stop.tokens.ts';
import type { SlugOf } from './clients/identity.client.ts';
import type { NotifierConfig } from './config.ts';
import { traceMailing } from './delivery/delivery.tracing.ts';
import { createMailSender } from './delivery/mail.sender.ts';
import type { MailRequest, Send } from './domain/destination.request.ts';
import { createMailReceipts } from './store/mail.receipts.ts';

export interface MailingDeps {
  channels: Pick<ChannelStore, 'find'>;
  readers: MongoReaderStore;
  slugOf: SlugOf;
  /** Of the looks for mails that ask readers. */
  intervalMs?: number | undefined;
}

/** Mail to the readers of channels. */
export interface Mailing {
  /** Whether there is a mail server. */
  sendsMail: boolean;
  send: Send<MailRequest>;
  routes: Route[];
  /** The parts that ask readers; none without a mail server. */
  parts: Component[];
}

export function createMailing(base: ServiceBase<NotifierConfig>, deps: MailingDeps): Mailing {
  const { config, connection, tracer, clock, logger } = base;
  const { channels, readers, slugOf, intervalMs } = deps;
  const { PUBLIC_URL: publicUrl } = config;
  const settings = mailSettingsOf(config);
  const sendMail = settings && traceMailing(tracer, settings.server, createSmtpSender(settings));
  const stopTokens = createStopTokens(config.CHANNEL_ENCRYPTION_KEYS);
  const domain = settings?.from.split('@').at(-1) ?? '';
  const send = createMailSender({
    send: sendMail,
    readers,
    receipts: createMailReceipts(connection),
    linksOf(readerId) {
      const token = stopTokens.of(readerId);
      return {
        stopUrl: pageOf(publicUrl, token),
        oneClickUrl: `${publicUrl}/api/v1/alert-mails/${token}:stop`,
        domain,
      };
    },
  });
  const routes = createReaderRoutes(createReaderUseCases({ readers, channels, stopTokens, slugOf }));
  if (sendMail === null) return { sendsMail: false, send, routes, parts: [] };
  const limits = createMailLimits(connection);
  const write = createConfirmationWriter({ channels, readers, limits, slugOf, publicUrl });
  const worker = createMailWorker({ store: readers, write, send: sendMail, clock, logger, intervalMs });
  return { sendsMail: true, send, routes, parts: [limits, worker] };
}
