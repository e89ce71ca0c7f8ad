export * from './connection.ts';
export * from './indexes.ts';
export * from './offset.store.ts';
export * from './transaction.ts';
