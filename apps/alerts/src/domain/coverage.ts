/** `[start, end)` in epoch milliseconds. */
export interface Span {
  start: number;
  end: number;
}

/** The times within `spanMs` after any event: the union of `[x, x + spanMs)` over the added times x. */
export interface Coverage {
  /** Adds an event's time. True if it was not covered: no event has this time or one at most `spanMs` before it. */
  add(time: number): boolean;
  /** Forgets spans that end at or before `horizon`. */
  forgetUntil(horizon: number): void;
  /** The end of the newest span; null if there is none. */
  end(): number | null;
  size(): number;
  /** The spans, oldest first; they neither overlap nor touch. */
  spans(): Span[];
}

export function createCoverage(spanMs: number, saved: readonly Span[] = []): Coverage {
  const spans = saved.map((span) => ({ ...span }));

  /** Merges the span at `index` with all following spans that it overlaps or touches. */
  function joinFollowing(index: number): void {
    const span = spans[index]!;
    let next = index + 1;
    for (; next < spans.length && spans[next]!.start <= span.end; next += 1) {
      span.end = Math.max(span.end, spans[next]!.end);
    }
    spans.splice(index + 1, next - index - 1);
  }

  return {
    add(time) {
      let index = spans.length - 1;
      while (index >= 0 && spans[index]!.start > time) index -= 1;
      const before = spans[index];
      const covered = before !== undefined && time < before.end;
      if (before !== undefined && time <= before.end) {
        before.end = Math.max(before.end, time + spanMs);
      } else {
        index += 1;
        spans.splice(index, 0, { start: time, end: time + spanMs });
      }
      joinFollowing(index);
      return !covered;
    },
    forgetUntil(horizon) {
      let gone = 0;
      while (gone < spans.length && spans[gone]!.end <= horizon) gone += 1;
      if (gone > 0) spans.splice(0, gone);
    },
    end: () => spans.at(-1)?.end ?? null,
    size: () => spans.length,
    spans: () => spans.map((span) => ({ ...span })),
  };
}
