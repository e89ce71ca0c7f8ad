import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import protobuf from 'protobufjs';

const REQUESTS = {
  span: ['trace/v1/trace_service.proto', 'trace.v1.ExportTraceServiceRequest'],
  log: ['logs/v1/logs_service.proto', 'logs.v1.ExportLogsServiceRequest'],
} as const;

/** The type of an export from OpenTelemetry's .proto files, which a package of Elastic's contains. */
export function loadOtlpRequest(signal: keyof typeof REQUESTS): protobuf.Type {
  const root = new protobuf.Root();
  const protos = dirname(fileURLToPath(import.meta.resolve('@elastic/mockotlpserver/package.json')));
  root.resolvePath = (_origin, target) => join(protos, target);
  const [file, name] = REQUESTS[signal];
  root.loadSync(`opentelemetry/proto/collector/${file}`);
  return root.lookupType(`opentelemetry.proto.collector.${name}`);
}
