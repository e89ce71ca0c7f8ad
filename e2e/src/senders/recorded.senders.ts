import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { loadOtlpRequest } from '@tollkeeper/testing/otlp-types';
import type { GeneratedCall } from './generated.call.ts';
import { type ExpectedCall, recordedCalls } from './recorded.calls.ts';
import { namedLike, type RecordTemplate, templateOf } from './record.template.ts';
import type { Sender } from './sender.ts';

interface RecordedBody {
  file: string;
  path: string;
  headers: Record<string, string>;
}

/** How the records of a body are read, picked, rendered and joined again. */
interface Format {
  read(bytes: Buffer): unknown;
  /** What is left of a body with only the records whose JSON this accepts, or that are in a trace with them. */
  pick(body: unknown, accepts: (json: string) => boolean): unknown;
  render(template: RecordTemplate): (call: GeneratedCall) => Buffer;
  join(records: readonly Buffer[]): Buffer;
  idEncoding: 'hex' | 'base64';
  maxBatch: number;
}

interface OtlpRecord {
  traceId?: string;
}

const FIXTURES = join(fileURLToPath(import.meta.resolve('@tollkeeper/ingest')), '../../test/fixtures');
const OTLP_BATCH = 256;
const LITELLM_BATCH = 100;

const FILES = [
  'litellm-1.106.2-generic-array-1.json',
  'litellm-1.106.2-generic.ndjson',
  'litellm-1.106.2-generic-single.json',
  'litellm-1.106.2-client-gone.json',
  'litellm-1.106.2-otel-request-span.pb',
  'litellm-1.106.2-otel-v2.pb',
  'openinference-openai-0.1.66.pb',
  'openllmetry-0.62.4-and-anthropic-sdk-2.14.0.pb',
  'opentelemetry-openai-v2-2.3b0.pb',
  'openai-agents-0.24.0-openinference-2.6.0.pb',
  'langfuse-sdk-5.0.4.pb',
  'vercel-ai-7.0.173-otel.json',
  'vercel-ai-5.0.277.json',
  'claude-code-logs.json',
  'codex-0.169.0-logs.json',
  'envoy-1.40-otlp-access-log-ok.pb',
  'envoy-1.40-otlp-access-log-sse-denied-failed.pb',
];

/** Senders that write records as recorded ones, with other ids, tokens, models, agents, costs and times. */
export function recordedSenders(): Sender[] {
  const index = JSON.parse(readFileSync(join(FIXTURES, 'senders/index.json'), 'utf8')) as RecordedBody[];
  const expected = recordedCalls(readFileSync(join(FIXTURES, 'expected-calls.txt'), 'utf8'));
  return FILES.map((file) => {
    const body = index.find((each) => each.file === file);
    const calls = expected.get(file);
    if (body === undefined || calls === undefined) throw new Error(`no recorded body ${file}`);
    return senderOf(body, calls);
  });
}

function senderOf({ file, path, headers }: RecordedBody, calls: readonly ExpectedCall[]): Sender {
  const format = formatOf(file, path);
  const body = format.read(readFileSync(join(FIXTURES, 'senders', file)));
  const templates = calls.map(({ id, call }) => {
    const records = format.pick(body, acceptedBy(id, call));
    const recorded = { ...call, responseId: wholeIdIn(JSON.stringify(records), id) };
    return { call: recorded, render: format.render(templateOf(records, recorded, format.idEncoding)) };
  });
  const templateFor = (at: number) => templates[at % templates.length]!;
  const isGzip = headers['content-encoding'] === 'gzip';
  return {
    name: file,
    protocol: path.endsWith('/litellm') ? 'litellm' : 'otlp',
    maxBatch: format.maxBatch,
    shapeOf: (at) => templateFor(at).call.shape,
    modelOf: (at, { model }) => namedLike(templateFor(at).call.model, model),
    body(apiKey, batch) {
      const bytes = format.join(batch.map(({ index: at, call }) => templateFor(at).render(call)));
      return {
        path,
        headers: {
          'content-type': headers['content-type'] ?? '',
          ...(isGzip && { 'content-encoding': 'gzip' }),
          ...keyHeader(headers, apiKey),
        },
        bytes: isGzip ? gzipSync(bytes) : bytes,
      };
    },
  };
}

/** In the header in which the recorded sender had its key. */
function keyHeader(headers: Record<string, string>, apiKey: string): Record<string, string> {
  if (headers['x-api-key'] !== undefined) return { 'x-api-key': apiKey };
  const isBasic = headers['authorization']?.startsWith('Basic') ?? false;
  return { authorization: isBasic ? `Basic ${Buffer.from(`pk:${apiKey}`).toString('base64')}` : `Bearer ${apiKey}` };
}

/** Accepts the records that report the call: by its response id, its span, or, without ids, by its tokens. */
function acceptedBy(id: string, { tokens }: ExpectedCall['call']): (json: string) => boolean {
  const [, kind, rest = ''] = /^(rsp\(|otel:[0-9a-f]+:|c[cx]:)(.*?)\)?$/.exec(id) ?? [];
  if (kind === 'rsp(') return (json) => json.includes(`"${rest}`);
  if (kind?.startsWith('otel:')) {
    const base64 = Buffer.from(rest, 'hex').toString('base64');
    return (json) => json.includes(`"spanId":"${rest}"`) || json.includes(`"spanId":"${base64}"`);
  }
  return (json) => new RegExp(`(Value|tokens)":"?${tokens.output}\\b`).test(json);
}

function wholeIdIn(json: string, id: string): string | undefined {
  const [, prefix] = /^rsp\((.*)\)$/.exec(id) ?? [];
  return prefix === undefined ? undefined : new RegExp(`"(${prefix}[^"]*)"`).exec(json)?.[1];
}

function formatOf(file: string, path: string): Format {
  if (path.endsWith('/litellm')) return litellmFormat(file);
  return file.endsWith('.pb') ? protobufFormat(path.endsWith('/logs') ? 'log' : 'span') : otlpJsonFormat(path);
}

/** LiteLLM's callback: an array, lines, or one object. */
function litellmFormat(file: string): Format {
  const isLines = file.endsWith('.ndjson');
  const isSingle = file.includes('single');
  return {
    read: (bytes) => {
      const text = bytes.toString().trim();
      return isLines ? text.split('\n').map((line) => JSON.parse(line) as unknown) : [JSON.parse(text)].flat();
    },
    pick: (body, accepts) => (body as unknown[]).find((each) => accepts(JSON.stringify(each))),
    render: (template) => (call) => Buffer.from(template(call)),
    join: (records) => Buffer.from(isLines || isSingle ? records.join('\n') : `[${records.join(',')}]`),
    idEncoding: 'hex',
    maxBatch: isSingle ? 1 : LITELLM_BATCH,
  };
}

function otlpJsonFormat(path: string): Format {
  const list = path.endsWith('/logs') ? 'resourceLogs' : 'resourceSpans';
  return {
    read: (bytes) => JSON.parse(bytes.toString()) as unknown,
    pick: (body, accepts) => pickRecords(body, accepts),
    // The lists of several bodies become one.
    render: (template) => (call) => Buffer.from(template(call).slice(`{"${list}":[`.length, -']}'.length)),
    join: (records) => Buffer.from(`{"${list}":[${records.join(',')}]}`),
    idEncoding: 'hex',
    maxBatch: OTLP_BATCH,
  };
}

function protobufFormat(signal: 'span' | 'log'): Format {
  const request = loadOtlpRequest(signal);
  return {
    read: (bytes) => request.toObject(request.decode(bytes), { longs: String, bytes: String, enums: Number }),
    pick: (body, accepts) => pickRecords(body, accepts),
    render: (template) => (call) => {
      const message = request.fromObject(JSON.parse(template(call)) as Record<string, unknown>);
      return Buffer.from(request.encode(message).finish());
    },
    // Lists of concatenated messages are those of one message.
    join: (records) => Buffer.concat(records),
    idEncoding: 'base64',
    maxBatch: OTLP_BATCH,
  };
}

/** With the accepted records and all others of their traces, inside their resources and scopes. */
function pickRecords(body: unknown, accepts: (json: string) => boolean): unknown {
  const accepted = new Set<OtlpRecord>();
  filterRecords(body, (record) => {
    if (accepts(JSON.stringify(record))) accepted.add(record);
    return true;
  });
  const traces = new Set([...accepted].map(({ traceId }) => traceId).filter((traceId) => traceId));
  return filterRecords(body, (record) => accepted.has(record) || traces.has(record.traceId));
}

function filterRecords(node: unknown, isPicked: (record: OtlpRecord) => boolean): unknown {
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(
    Object.entries(node).map(([key, value]): [string, unknown] => {
      if (!Array.isArray(value)) return [key, value];
      if (key === 'spans' || key === 'logRecords') return [key, value.filter(isPicked)];
      if (!/^(resource|scope)(Spans|Logs)$/.test(key)) return [key, value];
      const filtered = value.map((each) => filterRecords(each, isPicked));
      return [key, filtered.filter((each) => /"(spans|logRecords)":\[\{/.test(JSON.stringify(each)))];
    }),
  );
}
