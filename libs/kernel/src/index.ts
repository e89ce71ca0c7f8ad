export {
  canonicalTimezone,
  comparedSpan,
  localDays,
  monthAt,
  monthSpan,
  RANGE_KINDS,
  type RangeKind,
  resolveRange,
  type TimeSpan,
  type TimeWindow,
  toLocal,
} from './calendar.ts';
export * from './clock.ts';
export * from './errors.ts';
export * from './ids.ts';
export * from './money.ts';
export * from './one-time-token.ts';
export * from './periods.ts';
export * from './roles.ts';
export * from './room.ts';
export * from './tenant.ts';
export * from './turns.ts';
export * from './words.ts';
export * from './work-slices.ts';
