/** Most events and bytes of one request, below Tollkeeper's limits of 1000 events and 5 MiB. */
export const MAX_EVENTS = 1_000;
const MAX_BYTES = 4 * 1024 * 1024;

/** Events that are accepted or refused together. */
export interface Lot {
  events: string[];
  bytes: number;
  /** By `performance.now()`. */
  deadline: number;
  signal: AbortSignal | undefined;
  resolve(): void;
  reject(error: unknown): void;
}

/** Lots that wait or are in flight, in the order of their reports. */
export class LotQueue {
  /** Number of events that wait or are in flight. */
  events = 0;
  bytes = 0;
  readonly #waiting: Lot[] = [];
  readonly #pending = new Set<Promise<void>>();

  /** Whether no lot waits. */
  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Resolves once the lot is accepted. */
  add({ events, bytes }: Pick<Lot, 'events' | 'bytes'>, deadline: number, signal: AbortSignal | undefined) {
    let onAbort = () => {};
    const accepted = new Promise<void>((resolve, reject) => {
      const lot = { events, bytes, deadline, signal, resolve, reject };
      this.#waiting.push(lot);
      onAbort = () => {
        const place = this.#waiting.indexOf(lot);
        if (place >= 0) this.#waiting.splice(place, 1);
        reject(signal?.reason as Error);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
    }).finally(() => {
      signal?.removeEventListener('abort', onAbort);
      this.events -= events.length;
      this.bytes -= bytes;
      this.#pending.delete(accepted);
    });
    this.events += events.length;
    this.bytes += bytes;
    this.#pending.add(accepted);
    return accepted;
  }

  /** The first lots, as many as fit into a request. */
  takeBatch(): Lot[] {
    let events = 0;
    let bytes = 0;
    const next = this.#waiting.findIndex((lot, index) => {
      events += lot.events.length;
      bytes += lot.bytes;
      return index > 0 && (events > MAX_EVENTS || bytes > MAX_BYTES);
    });
    return this.#waiting.splice(0, next < 0 ? this.#waiting.length : next);
  }

  putBack(lots: readonly Lot[]): void {
    this.#waiting.unshift(...lots);
  }

  /** Resolves once all current lots are settled. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#pending);
  }
}

export function toLots(events: string[]): Pick<Lot, 'events' | 'bytes'>[] {
  const encoder = new TextEncoder();
  const lots: Pick<Lot, 'events' | 'bytes'>[] = [];
  let last: Pick<Lot, 'events' | 'bytes'> = { events: [], bytes: Infinity };
  for (const event of events) {
    const bytes = encoder.encode(event).length + 1;
    if (last.events.length >= MAX_EVENTS || last.bytes + bytes > MAX_BYTES) {
      last = { events: [], bytes: 0 };
      lots.push(last);
    }
    last.events.push(event);
    last.bytes += bytes;
  }
  return lots;
}
