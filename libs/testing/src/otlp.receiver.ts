import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { loadOtlpRequest } from './otlp.types.ts';

export interface ReceivedSpan {
  service: string;
  resource: Record<string, unknown>;
  name: string;
  /** `SPAN_KIND_SERVER` and its siblings without the prefix. */
  kind: string;
  traceId: string;
  spanId: string;
  /** Empty for the root of a trace. */
  parentSpanId: string;
  attributes: Record<string, unknown>;
  /** Trace ids that the span links to. */
  links: string[];
  failed: boolean;
}

/** Receives traces like a collector: OTLP over HTTP, in protobuf. */
export interface OtlpReceiver {
  /** For `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  url: string;
  spans: ReceivedSpan[];
  /** Headers of the last export. */
  readonly headers: IncomingHttpHeaders;
  /** Answers exports with this status instead of accepting them. */
  refuse(status: number): void;
  stop(): Promise<void>;
}

interface KeyValue {
  key: string;
  value: Record<string, unknown>;
}

interface ExportRequest {
  resourceSpans: {
    resource: { attributes: KeyValue[] };
    scopeSpans: { spans: Span[] }[];
  }[];
}

interface Span {
  name: string;
  kind: string;
  traceId: Buffer;
  spanId: Buffer;
  parentSpanId: Buffer;
  attributes: KeyValue[];
  links: { traceId: Buffer }[];
  status: { code: string } | null;
}

/** `port` is a free one by default. */
export async function startOtlpReceiver(port = 0): Promise<OtlpReceiver> {
  const request = loadOtlpRequest('span');
  const spans: ReceivedSpan[] = [];
  let headers: IncomingHttpHeaders = {};
  let refusal: number | undefined;
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const isExport = req.method === 'POST' && req.url === '/v1/traces';
      if (!isExport || req.headers['content-type'] !== 'application/x-protobuf') return void res.writeHead(400).end();
      headers = req.headers;
      if (refusal !== undefined) return void res.writeHead(refusal).end('no');
      const message = request.decode(Buffer.concat(chunks));
      spans.push(
        ...toSpans(request.toObject(message, { enums: String, longs: Number, defaults: true }) as ExportRequest),
      );
      res.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    get headers() {
      return headers;
    },
    refuse(status) {
      refusal = status;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function toSpans({ resourceSpans }: ExportRequest): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const ofResource = toAttributes(resource.attributes);
    return scopeSpans.flatMap(({ spans }) => spans.map((span) => toSpan(span, ofResource)));
  });
}

function toSpan(span: Span, resource: Record<string, unknown>): ReceivedSpan {
  return {
    service: String(resource['service.name']),
    resource,
    name: span.name,
    kind: span.kind.replace('SPAN_KIND_', ''),
    traceId: hex(span.traceId),
    spanId: hex(span.spanId),
    parentSpanId: hex(span.parentSpanId),
    attributes: toAttributes(span.attributes),
    links: span.links.map(({ traceId }) => hex(traceId)),
    failed: span.status?.code === 'STATUS_CODE_ERROR',
  };
}

function toAttributes(pairs: KeyValue[]): Record<string, unknown> {
  return Object.fromEntries(pairs.map(({ key, value }) => [key, Object.values(value)[0]]));
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
