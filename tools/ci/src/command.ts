import { spawn } from 'node:child_process';
import { getPriority, setPriority } from 'node:os';
import { delimiter, resolve } from 'node:path';

export const workspaceRoot = resolve(import.meta.dirname, '../../..');

/** For an Nx that starts no daemon, and no process for each of its plugins: those cost it more than its work does. */
export const NX_ALONE = { NX_DAEMON: 'false', NX_ISOLATE_PLUGINS: 'false' };

/** As `nice` counts it, below that of this process. */
const LOW_PRIORITY = Math.min(getPriority() + 5, 19);

export interface CommandOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** `inherit` passes the output through; `capture` returns stdout and stderr together. */
  output?: 'inherit' | 'capture';
  /** Others have the processor first. */
  lowPriority?: boolean;
}

export interface CommandResult {
  /** The exit code; 1 when a signal ended the command or it could not be started. */
  exitCode: number;
  /** Empty unless captured. */
  output: string;
}

/** Runs a command of the workspace (`nx`, `prettier`, `node` 24, …) without a terminal. Never rejects. */
export function runCommand(name: string, args: string[], options: CommandOptions = {}): Promise<CommandResult> {
  const capture = options.output === 'capture';
  const env = options.env ?? process.env;
  const child = spawn(name, args, {
    cwd: options.cwd ?? workspaceRoot,
    env: { ...env, PATH: [resolve(workspaceRoot, 'node_modules/.bin'), process.env.PATH].join(delimiter) },
    stdio: ['ignore', capture ? 'pipe' : 'inherit', capture ? 'pipe' : 'inherit'],
  });
  if (options.lowPriority === true && child.pid !== undefined) setPriority(child.pid, LOW_PRIORITY);
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return new Promise((done) => {
    child.on('error', (error) => done({ exitCode: 1, output: `${name}: ${error.message}` }));
    child.on('close', (code) => done({ exitCode: code ?? 1, output }));
  });
}
