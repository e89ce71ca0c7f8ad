import { spawn } from 'node:child_process';
import { delimiter, resolve } from 'node:path';

export const workspaceRoot = resolve(import.meta.dirname, '../../..');

/** Runs Nx without its daemon and without a process per plugin, which cost more than the work itself. */
export const NX_ALONE = { NX_DAEMON: 'false', NX_ISOLATE_PLUGINS: 'false' };

export interface CommandOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** `inherit` passes the output through; `capture` returns stdout and stderr together. */
  output?: 'inherit' | 'capture';
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
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return new Promise((done) => {
    child.on('error', (error) => done({ exitCode: 1, output: `${name}: ${error.message}` }));
    child.on('close', (code) => done({ exitCode: code ?? 1, output }));
  });
}
