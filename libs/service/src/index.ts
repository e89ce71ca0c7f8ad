export * from './encryption.keys.ts';
export * from './secret.cipher.ts';
export * from './service.base.ts';
export * from './service.process.ts';
