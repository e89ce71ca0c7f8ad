import type { Clock } from '../src/monotonic.clock.ts';

/** Time that only a test advances. */
export class VirtualTime {
  now = 0;
  readonly #due: { at: number; order: number; work: () => void }[] = [];
  #order = 0;

  after(delayMs: number, work: () => void): void {
    this.#due.push({ at: this.now + delayMs, order: this.#order++, work });
  }

  pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => this.after(delayMs, resolve));
  }

  /** Does all that is due until then, in order. */
  async advance(ms: number): Promise<void> {
    const until = this.now + ms;
    for (;;) {
      await turn();
      const next = this.#due.toSorted((a, b) => a.at - b.at || a.order - b.order)[0];
      if (next === undefined || next.at > until) break;
      this.#due.splice(this.#due.indexOf(next), 1);
      this.now = Math.max(this.now, next.at);
      next.work();
    }
    this.now = until;
  }

  /** The clock of a process, which runs at another speed. It stops with the process. */
  clockOf({ speed = 1, isAlive = () => true }: { speed?: number; isAlive?: () => boolean } = {}): Clock {
    const after = (delayMs: number, work: () => void) => {
      this.after(delayMs / speed, () => {
        if (isAlive()) work();
      });
    };
    return { now: () => this.now * speed, after, afterIfAlive: after };
  }
}

/** Resolves after all promises that can be settled now. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
