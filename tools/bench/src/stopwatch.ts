/** The result of one run over a number of events. */
export interface Run {
  eventsPerSecond: number;
  /** Processor time of this process, in microseconds per event. */
  cpuMicros: number;
}

/** Measures a run from its first events on, because the time to join a consumer group is not part of the rate. */
export interface Stopwatch {
  /** Only the first call counts. */
  start(): void;
  read(eventCount: number): Run;
}

export function createStopwatch(): Stopwatch {
  let started: { at: number; cpu: NodeJS.CpuUsage } | undefined;

  return {
    start() {
      started ??= { at: performance.now(), cpu: process.cpuUsage() };
    },
    read(eventCount) {
      if (started === undefined) throw new Error('The run has not started');
      const seconds = (performance.now() - started.at) / 1_000;
      const { user, system } = process.cpuUsage(started.cpu);
      return { eventsPerSecond: eventCount / seconds, cpuMicros: (user + system) / eventCount };
    },
  };
}
