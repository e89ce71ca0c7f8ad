export { type NotifierConfig, notifierConfig } from './config.ts';
export { createNotifier, type NotifierDeps, type NotifierService } from './notifier.service.ts';
