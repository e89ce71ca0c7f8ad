import {
  endingSpans,
  headersOf,
  inSpan,
  type Span,
  startSpan,
  type TraceHeaders,
  traceHeadersOf,
  type Tracer,
} from '@tollkeeper/runtime';
import type { ConsumerHandler, EventLog, LogRecord, RecordBatch } from './event-log.ts';

/** Maximum links of a span to the traces of its batch. */
const MAX_LINKS = 32;

/**
 * Appends records, each with the context of a producer span in the headers `traceparent` and `tracestate`. A record
 * that already has these headers, such as one from an outbox, continues its own trace. Others continue the active span.
 */
export async function appendTraced(
  tracer: Tracer,
  log: Pick<EventLog, 'append'>,
  topic: string,
  records: readonly LogRecord[],
): Promise<void> {
  const origins = Map.groupBy(records, ({ headers }) => headers?.['traceparent']);
  const spans = new Map<string | undefined, { span: Span; context: Record<string, string> }>();
  for (const [traceparent, ofOrigin] of origins) {
    const parent = traceparent === undefined ? undefined : traceHeadersOf(ofOrigin[0]?.headers);
    const attributes = {
      'messaging.operation.type': 'send',
      'messaging.destination.name': topic,
      'messaging.batch.message_count': ofOrigin.length,
    };
    const span = startSpan(tracer, { name: `send ${topic}`, kind: 'producer', parent, attributes });
    spans.set(traceparent, { span, context: { ...headersOf(span) } });
  }
  const traced = records.map((record) => {
    const { context } = spans.get(record.headers?.['traceparent'])!;
    return { ...record, headers: record.headers === undefined ? context : { ...record.headers, ...context } };
  });
  const all = [...spans.values()].map(({ span }) => span);
  await endingSpans(all, () => log.append(topic, traced));
}

/**
 * Runs `handle` in a consumer span for each batch. If all records have the same trace, the span continues it. Otherwise
 * it begins a new trace with links to theirs.
 */
export function handleTraced(
  tracer: Tracer,
  group: string,
  handle: ConsumerHandler['handle'],
): ConsumerHandler['handle'] {
  return (batch, stored) => {
    const { topic, partition, records } = batch;
    const [only, ...others] = originsOf(batch);
    const attributes = {
      'messaging.operation.type': 'process',
      'messaging.destination.name': topic,
      'messaging.destination.partition.id': String(partition),
      'messaging.consumer.group.name': group,
      'messaging.batch.message_count': records.length,
    };
    const ofOne = only !== undefined && others.length === 0;
    const links = only === undefined || ofOne ? [] : [only, ...others];
    const options = {
      name: `process ${topic}`,
      kind: 'consumer',
      parent: ofOne ? only : {},
      links,
      attributes,
    } as const;
    return inSpan(tracer, options, () => handle(batch, stored));
  };
}

/** The distinct trace contexts of a batch's records, at most as many as a span links. */
function originsOf({ records }: RecordBatch): TraceHeaders[] {
  const origins = new Map<string, TraceHeaders>();
  for (const { headers } of records) {
    const origin = traceHeadersOf(headers);
    if (origin === undefined || origins.has(origin.traceparent)) continue;
    origins.set(origin.traceparent, origin);
    if (origins.size === MAX_LINKS) break;
  }
  return [...origins.values()];
}
