export { type NotifierConfig, notifierConfig } from './config.ts';
export type { HttpsRequest, Send } from './domain/destination.request.ts';
export { createNotifier, type NotifierDeps, type NotifierService } from './notifier.service.ts';
