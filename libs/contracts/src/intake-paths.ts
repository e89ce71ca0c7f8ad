const MIB = 1024 * 1024;

/** A path at which gateways and agents report calls or events. */
export interface IntakePath {
  path: string;
  /** The same under the names that clients add to an endpoint of their own. */
  otherPaths: readonly string[];
  /** Largest body in bytes, after decompression. */
  maxBytes: number;
  /** How senders make bodies smaller, by the names of their settings. A body that is too large is lost. */
  tooLargeHint: string;
}

const COLLECTOR = "in the Collector's batch processor, send_batch_max_size";

/** The edge and ingest refuse the same bodies with the same words. */
export const INTAKE_PATHS = {
  events: {
    path: '/api/v1/events',
    otherPaths: [],
    maxBytes: 5 * MIB,
    tooLargeHint: 'Send fewer events in a request.',
  },
  traces: {
    path: '/v1/traces',
    otherPaths: ['/api/v1/otlp/v1/traces', '/api/public/otel/v1/traces'],
    maxBytes: 20 * MIB,
    tooLargeHint: `Set a smaller batch: OTEL_BSP_MAX_EXPORT_BATCH_SIZE; ${COLLECTOR}.`,
  },
  logs: {
    path: '/v1/logs',
    otherPaths: ['/api/v1/otlp/v1/logs'],
    maxBytes: 20 * MIB,
    tooLargeHint: `Set a smaller batch: OTEL_BLRP_MAX_EXPORT_BATCH_SIZE; ${COLLECTOR}.`,
  },
  metrics: {
    path: '/v1/metrics',
    otherPaths: ['/api/v1/otlp/v1/metrics'],
    maxBytes: 20 * MIB,
    tooLargeHint: `Metrics count nothing here: set OTEL_METRICS_EXPORTER=none; ${COLLECTOR}.`,
  },
  litellm: {
    path: '/api/v1/intake/litellm',
    otherPaths: [],
    maxBytes: 128 * MIB,
    tooLargeHint:
      'Set a smaller DEFAULT_BATCH_SIZE in the environment of LiteLLM. If a single call is too large, set ' +
      'turn_off_message_logging, which leaves out its prompts.',
  },
} as const satisfies Record<string, IntakePath>;

const BY_PATH = new Map(
  Object.values(INTAKE_PATHS).flatMap((intake) =>
    [intake.path, ...intake.otherPaths].map((path): [string, IntakePath] => [path, intake]),
  ),
);

/**
 * The row of a path, which may end in a slash; undefined for all other paths. Senders to these paths lose a body after
 * 408 and 400.
 */
export function intakePathOf(path: string): IntakePath | undefined {
  return BY_PATH.get(path.endsWith('/') ? path.slice(0, -1) : path);
}
