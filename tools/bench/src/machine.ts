import { cpus, release, totalmem, type } from 'node:os';

/** The first lines of every result, because figures mean nothing without their machine. */
export function describeMachine(): string {
  const [cpu] = cpus();
  const memoryGiB = Math.round(totalmem() / 2 ** 30);
  return [
    `- machine: ${cpu?.model.trim() ?? 'unknown processor'}, ${cpus().length} cores, ${memoryGiB} GiB, ${type()} ${release()}`,
    `- Node ${process.version}, ${new Date().toISOString().slice(0, 10)}`,
  ].join('\n');
}
