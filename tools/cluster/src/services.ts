/** Each has an image `tollkeeper/<service>:local`. */
export const SERVICES = [
  'alerts',
  'budgets',
  'dashboard',
  'gateway',
  'identity',
  'ingest',
  'keys',
  'notifier',
] as const;
