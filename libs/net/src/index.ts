export * from './address.guard.ts';
export * from './cidr.field.ts';
