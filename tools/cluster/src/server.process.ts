import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { killWithOwner } from '@tollkeeper/managed-process';

const STOP_TIMEOUT_MS = 20_000;
const KEPT_LINES = 5;

/** A program that runs until it is stopped, but no longer than this process. */
export interface ServerProcess {
  readonly name: string;
  readonly pid: number;
  /** Resolves once the process has ended for any reason, to a sentence that says how, with its last lines. */
  readonly exited: Promise<string>;
  /** Stops it, kills it after 20 s, and resolves once it is gone. Idempotent. */
  stop(): Promise<void>;
}

export interface ServerOptions {
  program: string;
  args: string[];
  /** Gets stdout and stderr. */
  logFile: string;
  env?: NodeJS.ProcessEnv;
}

/** Starts it as a direct child in its own process group, so that Ctrl-C in the terminal reaches only its owner. */
export function startServer({ program, args, logFile, env = process.env }: ServerOptions): ServerProcess {
  const name = basename(program);
  const log = openSync(logFile, 'a');
  const child = spawn(program, args, { env, stdio: ['ignore', log, log], detached: true });
  closeSync(log);
  const exited = new Promise<string>((settle) => {
    child.once('error', (error) => settle(`${name} could not be started: ${error.message}`));
    child.once('exit', (code, signal) => {
      void lastLines(logFile).then((lines) => settle(`${name} ended with ${signal ?? `exit code ${code}`}:\n${lines}`));
    });
  });
  const pid = child.pid ?? 0;
  const stopWatching = pid === 0 ? () => undefined : killWithOwner(pid, 'SIGKILL');
  void exited.then(stopWatching);
  return {
    name,
    pid,
    exited,
    async stop() {
      child.kill('SIGTERM');
      const kill = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
      await exited;
      clearTimeout(kill);
    },
  };
}

async function lastLines(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.trimEnd().split('\n').slice(-KEPT_LINES).join('\n');
}
