import { seconds, sizeOf } from './text.ts';

const LINE_INTERVAL_MS = 5_000;

/** How far a backup or a restore is. */
export interface Progress {
  /** What is worked on, and how many bytes are left with it. */
  begin(what: string, totalBytes: number): void;
  add(bytes: number): void;
}

/** A line every few seconds, at a terminal and in a log alike. */
export function createProgress(print: (line: string) => void, clock: () => number = Date.now): Progress {
  const startedAt = clock();
  let printedAt = startedAt;
  let [what, total, done] = ['', 0, 0];
  return {
    begin(next, totalBytes) {
      what = next;
      total = totalBytes;
    },
    add(bytes) {
      done += bytes;
      const now = clock();
      if (now - printedAt < LINE_INTERVAL_MS) return;
      printedAt = now;
      print(`${sizeOf(done)} of about ${sizeOf(Math.max(total, done))} in ${seconds(now - startedAt)}, at ${what}`);
    },
  };
}
