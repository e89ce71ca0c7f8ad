export * from './config.ts';
export * from './config-fields.ts';
export * from './lifecycle.ts';
export * from './logger.ts';
export * from './loop.ts';
export * from './metrics.ts';
export * from './ops-server.ts';
export * from './process.ts';
