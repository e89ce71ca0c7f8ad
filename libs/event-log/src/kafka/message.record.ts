import type { KafkaMessage } from 'kafkajs';
import type { ReadRecord } from '../event-log.ts';

const NOTHING = Buffer.alloc(0);

/**
 * A message of Kafka as a record of the log. Its parts are made when they are asked for: most readers pass over most
 * records without a look at more than the key.
 */
export class MessageRecord implements ReadRecord {
  readonly #message: KafkaMessage;

  constructor(message: KafkaMessage) {
    this.#message = message;
  }

  get key(): string {
    return this.#message.key?.toString() ?? '';
  }

  get value(): Buffer {
    return this.#message.value ?? NOTHING;
  }

  /** Of a header that is there more than once, the last. */
  get headers(): Record<string, string> {
    const text: Record<string, string> = {};
    for (const [name, value] of Object.entries(this.#message.headers ?? {})) {
      if (value !== undefined) text[name] = String(Array.isArray(value) ? value.at(-1) : value);
    }
    return text;
  }

  get offset(): number {
    return Number(this.#message.offset);
  }

  get appendedAt(): number {
    return Number(this.#message.timestamp);
  }
}
