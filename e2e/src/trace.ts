import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Target } from './target.ts';

const REPLAY = join(import.meta.dirname, '..', '..', 'tools', 'replay', 'src', 'main.ts');

/** USD micros per context token and per generated token, by agent in turn, as in `npm run replay -- --help`. */
const PRICES = [
  [3, 15],
  [1, 5],
  [15, 75],
] as const;

/** The sums that drilldowns give for settled spend. */
export interface Sums {
  total_micros: number;
  unique_settlements: number;
  input_tokens: number;
  output_tokens: number;
}

/** The sums alone, from an answer's object. */
export function sumsOf({ total_micros, unique_settlements, input_tokens, output_tokens }: Sums): Sums {
  return { total_micros, unique_settlements, input_tokens, output_tokens };
}

export function addUp(parts: Sums[]): Sums {
  const sum = (name: keyof Sums) => parts.reduce((total, part) => total + part[name], 0);
  return {
    total_micros: sum('total_micros'),
    unique_settlements: sum('unique_settlements'),
    input_tokens: sum('input_tokens'),
    output_tokens: sum('output_tokens'),
  };
}

export interface Trace {
  file: string;
  rows: number;
  /** Cost of all calls together. */
  totalMicros: number;
  /** Cost, tokens and number of calls by agent, most expensive first. */
  agents: ({ agent_id: string } & Sums)[];
}

/** Writes a trace of `rows` calls over `spanMs`. Its token counts look random, but are the same each time. */
export async function writeTrace(directory: string, rows: number, spanMs: number, agents: number): Promise<Trace> {
  const start = Date.parse('2023-11-16T18:00:00.000Z');
  const byAgent = Array.from({ length: agents }, (_agent, index) => ({
    agent_id: `trace-agent-${index + 1}`,
    total_micros: 0,
    unique_settlements: 0,
    input_tokens: 0,
    output_tokens: 0,
  }));
  const lines = ['TIMESTAMP,ContextTokens,GeneratedTokens'];
  for (let row = 0; row < rows; row += 1) {
    const time = new Date(start + Math.floor((row * spanMs) / rows))
      .toISOString()
      .replace('T', ' ')
      .replace('Z', '0000');
    const context = (row * 7_919) % 4_096;
    const generated = (row * 104_729) % 513;
    lines.push(`${time},${context},${generated}`);
    const agent = byAgent[row % agents];
    const [contextMicros, generatedMicros] = PRICES[(row % agents) % PRICES.length] ?? PRICES[0];
    if (!agent) continue;
    agent.total_micros += context * contextMicros + generated * generatedMicros;
    agent.unique_settlements += 1;
    agent.input_tokens += context;
    agent.output_tokens += generated;
  }
  const file = join(directory, 'trace.csv');
  // Like recorded traces, without a newline at the end.
  await writeFile(file, lines.join('\n'));
  const totalMicros = byAgent.reduce((total, { total_micros }) => total + total_micros, 0);
  return { file, rows, totalMicros, agents: byAgent.sort((a, b) => b.total_micros - a.total_micros) };
}

export interface RunningReplay {
  /** Resolves to the exit code and all of its output. */
  ended: Promise<{ code: number | null; output: string }>;
  stop(): void;
}

/** Replays the trace as `npm run replay` does. */
export function startReplay(
  target: Pick<Target, 'baseUrl' | 'apiKey'>,
  { file, agents }: Trace,
  options: string[] = [],
): RunningReplay {
  const args = [REPLAY, file, '--url', target.baseUrl, '--agents', String(agents.length), ...options];
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NODE_OPTIONS: '', TOLLKEEPER_KEY: target.apiKey },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk));
  const ended = once(child, 'close').then(() => ({ code: child.exitCode, output }));
  return { ended, stop: () => child.kill('SIGKILL') };
}
