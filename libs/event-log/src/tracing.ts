import {
  endSpan,
  headersOf,
  inSpan,
  type Span,
  startSpan,
  type TraceHeaders,
  traceHeadersOf,
  type Tracer,
} from '@tollkeeper/runtime';
import type { ConsumerHandler, EventLog, LogRecord, RecordBatch } from './event-log.ts';

/** A span keeps at most this many links to the traces that its batch comes from. */
const MAX_LINKS = 32;

/**
 * Appends records, each with the context of a producer span in the headers `traceparent` and `tracestate`. A record
 * that carries these already goes on with its own trace, as one does that waited in an outbox; the others belong to the
 * active span.
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
  let failure: unknown;
  try {
    await log.append(topic, traced);
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    for (const { span } of spans.values()) endSpan(span, failure);
  }
}

/**
 * `handle` in a consumer span for each batch. The span continues the trace of its records when they all have the same
 * one; else it begins its own and links to theirs.
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

/** The different trace contexts that a batch's records carry, up to as many as are linked. */
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
