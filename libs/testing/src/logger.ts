import { type Logger, createLogger } from '@tollkeeper/runtime';

export interface TestLogger {
  /** A service's logger, with its redaction, that stores its lines instead of printing them. */
  logger: Logger;
  /** Every line so far, parsed, oldest first. */
  lines(): Record<string, unknown>[];
  /** Every line so far as it would be printed, for searches. */
  text(): string;
}

/** A logger at level `trace` whose lines the test can read. */
export function testLogger(): TestLogger {
  const written: string[] = [];
  const logger = createLogger({
    service: 'test',
    level: 'trace',
    destination: { write: (line) => void written.push(line) },
  });
  return {
    logger,
    lines: () => written.map((line) => JSON.parse(line) as Record<string, unknown>),
    text: () => written.join(''),
  };
}
