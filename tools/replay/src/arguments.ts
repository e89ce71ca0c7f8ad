import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { MODEL_PRICES, type ModelPrice } from './pricing.ts';

export interface ReplayOptions {
  file: string;
  url: URL;
  key: string;
  /** Factor of real time; null: as fast as the events are accepted. */
  speed: number | null;
  agents: number;
}

/** The command line is wrong; the message says how to correct it. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export const USAGE = `Posts a recorded trace of LLM calls to Tollkeeper as settled spend.

  npm run replay -- FILE.csv [--url URL] [--key KEY] [--speed N] [--agents N]

  FILE.csv    one call a row: TIMESTAMP,ContextTokens,GeneratedTokens
  --url URL   where Tollkeeper listens; default http://localhost:8080
  --key KEY   a workspace key of role developer or admin; or set TOLLKEEPER_KEY, which keeps it out of
              the process list and the shell's history
  --speed N   paces the calls at N times real time, each at the time of its posting; without it they are posted
              as fast as they are accepted and their times are moved so that the last call is now
  --agents N  spreads the calls over N agents; default 4

A call costs its tokens times these USD micros, by the model of its agent:
${MODEL_PRICES.map(priceLine).join('\n')}

The same file can be replayed again and again, whatever the options: nothing is counted twice.
Exit status: 0 all rows posted, 1 not all posted (run it again), 2 bad rows skipped and all others posted.`;

const MAX_AGENTS = 10_000;

/** Throws {@link UsageError}; null if help is requested. */
export function parseReplayArguments(args: string[], env: NodeJS.ProcessEnv): ReplayOptions | null {
  const { values, positionals } = parse(args);
  if (values.help) return null;
  const [file, ...others] = positionals;
  if (file === undefined) throw new UsageError('Name the trace to replay: npm run replay -- FILE.csv');
  if (others.length > 0) throw new UsageError(`One file at a time; what is ${others[0]}?`);
  const key = (values.key ?? env['TOLLKEEPER_KEY'] ?? '').trim();
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new UsageError('Give a workspace key with --key or in TOLLKEEPER_KEY (ws_live_…, role developer).');
  return {
    // npm runs scripts in the package's directory; INIT_CWD is the user's.
    file: resolve(env['INIT_CWD'] ?? process.cwd(), file),
    url: parseUrl(values.url ?? 'http://localhost:8080'),
    key,
    speed: values.speed === undefined ? null : parseNumber('--speed', values.speed, /^\d{1,6}(\.\d{1,3})?$/, 1_000_000),
    agents: values.agents === undefined ? 4 : parseNumber('--agents', values.agents, /^\d{1,5}$/, MAX_AGENTS),
  };
}

function priceLine({ model, inputMicros, outputMicros }: ModelPrice, index: number): string {
  const every = MODEL_PRICES.length;
  const agents = `agents ${index + 1}, ${index + 1 + every}, ${index + 1 + 2 * every} …`;
  return `  ${model.padEnd(14)} ${inputMicros} a context token, ${outputMicros} a generated token (${agents})`;
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        url: { type: 'string' },
        key: { type: 'string' },
        speed: { type: 'string' },
        agents: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function parseUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new UsageError('--url must be an http:// or https:// address, such as http://localhost:8080');
  }
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  return url;
}

function parseNumber(option: string, text: string, form: RegExp, max: number): number {
  const value = Number(text);
  if (form.test(text) && value > 0 && value <= max) return value;
  throw new UsageError(`${option} must be a number above 0 and at most ${max}`);
}
