import { describe, expect, it } from '@jest/globals';
import { INTAKE_PATHS, intakePathOf } from './intake-paths.ts';

describe('a path at which calls or events are reported', () => {
  it.each([
    ['/v1/traces', INTAKE_PATHS.traces],
    ['/v1/traces/', INTAKE_PATHS.traces],
    ['/api/public/otel/v1/traces', INTAKE_PATHS.traces],
    ['/api/v1/otlp/v1/logs/', INTAKE_PATHS.logs],
    ['/api/v1/intake/litellm', INTAKE_PATHS.litellm],
    ['/api/v1/events', INTAKE_PATHS.events],
  ])('%s is known by all its names, also with a slash at the end', (path, row) => {
    expect(intakePathOf(path)).toBe(row);
  });

  it.each(['/v1/traces//', '/v1', '/', '', '/api/v1/agents', '/v1/traces/x'])('is not %j', (path) => {
    expect(intakePathOf(path)).toBeUndefined();
  });
});
