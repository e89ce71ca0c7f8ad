import type { Replica } from '@tollkeeper/fleet';

export interface Sample {
  labels: Record<string, string>;
  value: number;
}

/** The values of this metric in a replica's `/metrics`, by labels. */
export async function readMetric({ opsUrl }: Pick<Replica, 'opsUrl'>, name: string): Promise<Sample[]> {
  // A new connection, because the server may close a kept-alive one just as it is used again.
  const text = await (await fetch(`${opsUrl}/metrics`, { headers: { connection: 'close' } })).text();
  return text.split('\n').flatMap((line) => {
    const [, found, labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (found !== name) return [];
    return [{ labels: Object.fromEntries(labelsOf(labels)), value: Number(value) }];
  });
}

function labelsOf(text: string): [name: string, value: string][] {
  return [...text.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]);
}
