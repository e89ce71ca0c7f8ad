export * from './calendar.ts';
export * from './clock.ts';
export * from './errors.ts';
export * from './ids.ts';
export * from './money.ts';
export * from './tenant.ts';
export * from './turns.ts';
export * from './work-slices.ts';
