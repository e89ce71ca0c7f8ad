/** How long the parts of a run take. */
export interface StageTimes {
  /** Runs a stage and records its time, whether it succeeds or fails. */
  time<T>(stage: string, run: () => Promise<T>): Promise<T>;
  /** A line for each stage, in the order of their ends. Stages may have run concurrently. */
  table(): string;
}

export function createStageTimes(nowMs: () => number = () => performance.now()): StageTimes {
  const stages: { stage: string; time: string }[] = [];
  return {
    async time(stage, run) {
      const startMs = nowMs();
      try {
        return await run();
      } finally {
        stages.push({ stage, time: minutesAndSeconds(nowMs() - startMs) });
      }
    },
    table() {
      const width = Math.max(...stages.map(({ stage }) => stage.length));
      return stages.map(({ stage, time }) => `${stage.padEnd(width)}  ${time.padStart(5)}`).join('\n');
    },
  };
}

function minutesAndSeconds(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
