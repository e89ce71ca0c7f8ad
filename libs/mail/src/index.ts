export type { Mail } from './mail.ts';
export { hasSender, mailFields, type MailSettings, mailSettingsOf } from './mail.fields.ts';
export { createMailWorker, type WaitingMails } from './mail.worker.ts';
export { createSmtpSender, MailFailure, type SendMail } from './smtp.sender.ts';
