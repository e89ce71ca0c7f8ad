import { cpus } from 'node:os';

/** How long the parts of a run take. */
export interface StageTimes {
  /** Runs a stage and records its time, whether it succeeds or fails. */
  time<T>(stage: string, run: () => Promise<T>): Promise<T>;
  /**
   * A line for each stage, in the order of their ends, with the part of the machine's processors that was busy: in a
   * stage with a small part, suites wait. Stages may have run concurrently.
   */
  table(): string;
}

/** A time in milliseconds, and for how many of them all processors have been busy so far, on average. */
interface Reading {
  ms: number;
  busyMs: number;
}

export function createStageTimes(read: () => Reading = readMachine): StageTimes {
  const stages: { stage: string; time: string; busy: string }[] = [];
  return {
    async time(stage, run) {
      const start = read();
      try {
        return await run();
      } finally {
        const end = read();
        const ms = end.ms - start.ms;
        const busy = Math.round((100 * (end.busyMs - start.busyMs)) / ms);
        stages.push({ stage, time: minutesAndSeconds(ms), busy: `${busy} % busy` });
      }
    },
    table() {
      const width = Math.max(...stages.map(({ stage }) => stage.length));
      return stages.map(({ stage, time, busy }) => `${stage.padEnd(width)}  ${time.padStart(5)}  ${busy}`).join('\n');
    },
  };
}

function readMachine(): Reading {
  const processors = cpus().map(({ times: { user, nice, sys, irq } }) => user + nice + sys + irq);
  return { ms: performance.now(), busyMs: processors.reduce((sum, ms) => sum + ms, 0) / processors.length };
}

function minutesAndSeconds(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
