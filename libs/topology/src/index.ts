export * from './calls.ts';
export * from './entry.ts';
export * from './services.ts';
export * from './settings.ts';
