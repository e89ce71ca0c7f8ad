import { type Metadata, status } from '@grpc/grpc-js';
import {
  endSpan,
  failSpan,
  headersOf,
  type Metrics,
  type Span,
  startSpan,
  type TraceCarrier,
  type Tracer,
} from '@tollkeeper/runtime';

/** A call that is measured and traced. Call `end` once with its status. `span` is absent while tracing is off. */
interface MeasuredCall {
  span: Span | undefined;
  end(code: status): void;
}

/** Measures and traces the calls of a client. */
export interface ClientTelemetry {
  /** Starts a call, whose metadata get its span. */
  begin(path: string, metadata: Metadata): MeasuredCall;
}

interface TelemetryDeps {
  metrics: Metrics | undefined;
  tracer?: Tracer | undefined;
}

/** Measures and traces the calls that a server answers. */
export interface ServerTelemetry {
  /** Starts a call, whose span continues that of the carrier. */
  begin(path: string, carrier: TraceCarrier): MeasuredCall;
  /** A request of a batch was answered with the status. */
  batched(path: string, code: status): void;
  /** A stream has ended with the status. */
  streamEnded(path: string, code: status): void;
}

/** For a service that makes calls: the metadata carry its spans. */
export function createClientTelemetry({ metrics, tracer }: TelemetryDeps): ClientTelemetry {
  const duration = metrics && durationOf(metrics, 'client', 'Time from a call to its response, including all attempts');
  return {
    begin(path, metadata) {
      const stopTimer = duration?.startTimer({ method: path });
      const span = tracer && startSpan(tracer, { ...describe(path), kind: 'client' });
      if (span !== undefined) {
        for (const [name, value] of Object.entries(headersOf(span))) metadata.set(name, value);
      }
      return {
        span,
        end(code) {
          stopTimer?.({ code: status[code] });
          if (span !== undefined) end(span, code, code !== status.OK);
        },
      };
    },
  };
}

/** Statuses that mean a fault of the server, not of its caller. */
const SERVER_FAULTS = new Set([
  status.UNKNOWN,
  status.DEADLINE_EXCEEDED,
  status.UNIMPLEMENTED,
  status.INTERNAL,
  status.UNAVAILABLE,
  status.DATA_LOSS,
]);

const BATCHED = 'grpc_server_batched_requests_total';
const STREAMS = 'grpc_server_streams_total';

/** For a service that answers calls. */
export function createServerTelemetry({ metrics, tracer }: TelemetryDeps): ServerTelemetry {
  const duration = metrics && durationOf(metrics, 'server', 'Time from a complete request to its response');
  const batched = metrics && countedOf(metrics, BATCHED, 'Requests answered in batches and streams');
  const streams = metrics && countedOf(metrics, STREAMS, 'Streams that have ended, without those of reflection');
  return {
    begin(path, parent) {
      const stopTimer = duration?.startTimer({ method: path });
      const span = tracer && startSpan(tracer, { ...describe(path), kind: 'server', parent });
      return {
        span,
        end(code) {
          stopTimer?.({ code: status[code] });
          if (span !== undefined) end(span, code, SERVER_FAULTS.has(code));
        },
      };
    },
    batched: (path, code) => batched?.inc({ method: path, code: status[code] }),
    streamEnded: (path, code) => streams?.inc({ method: path, code: status[code] }),
  };
}

/** One histogram for all clients, or all servers, that share the registry. */
function durationOf({ registry, histogram }: Metrics, side: 'client' | 'server', help: string) {
  const name = `grpc_${side}_request_duration_seconds`;
  const made = registry.getSingleMetric(name) as ReturnType<typeof histogram<'method' | 'code'>> | undefined;
  return made ?? histogram({ name, help, labelNames: ['method', 'code'] });
}

function countedOf({ registry, counter }: Metrics, name: string, help: string) {
  const made = registry.getSingleMetric(name) as ReturnType<typeof counter<'method' | 'code'>> | undefined;
  return made ?? counter({ name, help, labelNames: ['method', 'code'] });
}

/** `/tollkeeper.keys.v1.KeysService/VerifyKey` without its first slash is the method's full name. */
function describe(path: string) {
  const method = path.slice(1);
  return { name: method, attributes: { 'rpc.system.name': 'grpc', 'rpc.method': method } };
}

/** The trace that the metadata of a call name. */
export function carried(metadata: Metadata): TraceCarrier {
  return { traceparent: textOf(metadata, 'traceparent'), tracestate: textOf(metadata, 'tracestate') };
}

/** The first value of `name` in the metadata. */
export function textOf(metadata: Metadata, name: string): string | undefined {
  const [value] = metadata.get(name);
  return typeof value === 'string' ? value : undefined;
}

function end(span: Span, code: status, failed: boolean): void {
  span.setAttribute('rpc.status_code', status[code]);
  if (failed) failSpan(span, status[code]);
  endSpan(span);
}
