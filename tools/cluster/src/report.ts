import type { Failure, Load } from './load.ts';
import type { Peak } from './memory.ts';

/** Collects observations as rows of a table for docs/faults.md. */
export interface Report {
  /** Acts while the load continues, and records the time and the failures. Never rejects. */
  measure(check: string, subject: string, act: () => Promise<void>): Promise<void>;
  /** From now on, requests of this load are counted. */
  watch(load: Load): void;
  memory(peaks: Map<string, Peak>): void;
  /** Whether all actions succeeded. */
  readonly complete: boolean;
  toString(): string;
}

interface Row {
  check: string;
  subject: string;
  seconds: number;
  sent: number;
  failed: Failure[];
  problem: string;
}

export function createReport(onRow: (text: string) => void): Report {
  const rows: Row[] = [];
  let load: Load | undefined;
  let peaks = new Map<string, Peak>();

  return {
    async measure(check, subject, act) {
      load?.take();
      const startedAt = performance.now();
      const problem = await act().then(
        () => '',
        (error: Error) => error.message,
      );
      const row = {
        check,
        subject,
        seconds: (performance.now() - startedAt) / 1000,
        ...(load?.take() ?? { sent: 0, failed: [] }),
        problem,
      };
      rows.push(row);
      onRow(toLine(row));
      for (const [failure, those] of Map.groupBy(row.failed, describe)) onRow(`  ${those.length} × ${failure}`);
    },
    watch: (next) => void (load = next),
    memory: (found) => void (peaks = found),
    get complete() {
      return rows.every(({ problem }) => problem === '');
    },
    toString: () => [table(rows), '', memoryTable(peaks)].join('\n'),
  };
}

/** A text that is equal for failures of one kind. */
function describe({ what, status, text }: Failure): string {
  return `${what}: ${status === 0 ? '' : `${status} `}${text.replace(/,?"request_id":.*/, '')}`;
}

function toLine({ check, subject, seconds, sent, failed, problem }: Row): string {
  const statuses = Map.groupBy(failed, ({ status }) => status);
  const kinds = [...statuses].map(([status, those]) => `${those.length} × ${status === 0 ? 'no answer' : status}`);
  const result = problem === '' ? 'done' : `**failed**: ${problem.replaceAll('\n', ' ')}`;
  return `| ${[check, subject, result, `${seconds.toFixed(0)} s`, sent, kinds.join(', ') || '0'].join(' | ')} |`;
}

function table(rows: Row[]): string {
  const head = '| what | to | result | took | requests meanwhile | failed |\n| --- | --- | --- | ---: | ---: | ---: |';
  return [head, ...rows.map(toLine)].join('\n');
}

function memoryTable(peaks: Map<string, Peak>): string {
  const head = '| pod | peak memory | limit |\n| --- | ---: | ---: |';
  const lines = [...peaks]
    .toSorted()
    .map(([app, { peakMib, limitMib }]) => `| ${app} | ${peakMib} MiB | ${limitMib} MiB |`);
  return [head, ...lines].join('\n');
}
