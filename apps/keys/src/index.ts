export { type KeysConfig, keysConfig } from './config.ts';
export type { CreatedKey, KeyUseCases, NewKey } from './domain/key.use-cases.ts';
export { createKeys, type KeysDeps, type KeysService } from './keys.service.ts';
