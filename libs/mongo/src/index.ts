export * from './connection.ts';
export * from './driver.collection.ts';
export * from './duplicate-key.ts';
export * from './indexes.ts';
export * from './offset.store.ts';
export * from './outage.ts';
export * from './refusal.ts';
export * from './transaction.ts';
