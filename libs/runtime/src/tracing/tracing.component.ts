import type { Tracer } from '@opentelemetry/api';
import type { Component } from '../lifecycle.ts';

/**
 * The traces of a process. `stop` sends the remaining spans, for at most a few seconds. Start it first and stop it
 * last.
 */
export interface Tracing extends Component {
  /** The tracer of a service, with its own `service.name` and version; undefined while tracing is off. */
  tracerOf(service: string, version?: string): Tracer | undefined;
}
