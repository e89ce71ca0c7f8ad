import type { Tracer } from '@opentelemetry/api';
import type { Component } from '../lifecycle.ts';

/** The traces of a process. `stop` sends what waits, for at most a few seconds. Start it first and stop it last. */
export interface Tracing extends Component {
  /**
   * What a service makes its spans with, under its own `service.name` and version; undefined while nothing is traced.
   */
  tracerOf(service: string, version?: string): Tracer | undefined;
}
