export * from './service.base.ts';
export * from './service.process.ts';
