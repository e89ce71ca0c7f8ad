import type { KafkaMessage } from 'kafkajs';
import type { ReadRecord } from '../event-log.ts';

const NOTHING = Buffer.alloc(0);

/**
 * A Kafka message as a record of the log. Key, value and headers are decoded on access, because most readers skip most
 * records by the key alone.
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

  /** The last value of each header: a message may repeat a header. */
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
