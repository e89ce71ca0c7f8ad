import { decodeGatewayEvent, isAboutEarlier, peekEventType } from '@tollkeeper/contracts';
import type { DeadLetters, RecordBatch } from '@tollkeeper/event-log';
import { startSlices } from '@tollkeeper/kernel';
import { type CountableEvent, toCountableEvent } from '../domain/event.ts';
import type { RuleBook } from '../domain/rule-book.ts';
import type { FireTraces } from './fire.traces.ts';

export interface CountedEvent {
  event: CountableEvent;
  offset: number;
}

export interface CountedEventsDeps {
  book: RuleBook;
  traces: Pick<FireTraces, 'remember'>;
  deadLetters: DeadLetters;
}

/**
 * The events of a batch that a rule may count: never those that Tollkeeper writes about earlier events. Only these are
 * decoded, since they are few. The key of a record is its workspace.
 */
export async function countedEvents(
  batch: RecordBatch,
  { book, traces, deadLetters }: CountedEventsDeps,
): Promise<CountedEvent[]> {
  const events: CountedEvent[] = [];
  const slices = startSlices();
  for (const record of batch.records) {
    const type = peekEventType(record.value);
    if (type !== null && (isAboutEarlier(type) || !(book.countsType(type) && book.counts(record.key, type)))) continue;
    // Not checked for skipped records: skipping is cheaper than the check.
    if (slices.usedUp()) await slices.next();
    try {
      const event = toCountableEvent(decodeGatewayEvent(record.value));
      traces.remember(event, record.headers);
      events.push({ event, offset: record.offset });
    } catch (error) {
      await deadLetters.setAside(batch, record, error instanceof Error ? error.message : String(error));
    }
  }
  return events;
}
