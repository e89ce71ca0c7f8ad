export * from './address.guard.ts';
export * from './cidr.field.ts';
export * from './client.network.ts';
export * from './https.exchange.ts';
export * from './name.resolver.ts';
