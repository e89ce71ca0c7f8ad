import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { eventually } from '@tollkeeper/testing';

/** What a proxy needs to know of the others. */
export interface ProxySurroundings {
  /** The address of Tollkeeper. */
  url: string;
  /** The port for gateways, on this machine. */
  grpcPort: number;
  apiKey: string;
  modelPort: number;
}

export interface ProxyProcess {
  /** The address for callers of the model. */
  url: string;
  stop(): Promise<void>;
}

interface ProxyProgram {
  name: string;
  /** Its settings, by the names of their files. */
  files: Record<string, string>;
  /** The program with its arguments; it runs in the folder of the files. */
  command: readonly [program: string, ...args: string[]];
  env?: Record<string, string>;
  port: number;
}

/** Starts a real proxy, and waits until it answers. */
export async function startProxy({ name, files, command, env = {}, port }: ProxyProgram): Promise<ProxyProcess> {
  const directory = await mkdtemp(join(tmpdir(), `tollkeeper-${name}-`));
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(directory, file)), { recursive: true });
    await writeFile(join(directory, file), text);
  }
  const [program, ...args] = command;
  const surroundings = { cwd: directory, env: { ...process.env, ...env } };
  const proxy = spawn(program, args, { ...surroundings, stdio: ['ignore', 'pipe', 'pipe'] });
  let log = '';
  for (const output of [proxy.stdout, proxy.stderr]) output.on('data', (chunk: Buffer) => (log += chunk));
  const ended = once(proxy, 'exit');
  const stop = async () => {
    proxy.kill();
    await ended;
    await rm(directory, { recursive: true, force: true });
  };
  const url = `http://127.0.0.1:${port}`;
  await eventually(async () => {
    if (proxy.exitCode === null) await fetch(url);
  });
  if (proxy.exitCode === null) return { url, stop };
  await stop();
  throw new Error(`${name} ended with ${proxy.exitCode}:\n${log}`);
}

/** The text with values in place of these words. Throws for a word without one. */
export function filledIn(text: string, words: RegExp, values: Record<string, string>): string {
  return text.replaceAll(words, (word) => {
    const value = values[word];
    if (value === undefined) throw new Error(`The suite has no value for ${word}`);
    return value;
  });
}
