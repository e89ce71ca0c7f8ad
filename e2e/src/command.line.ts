import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll } from '@jest/globals';

const BUILD = join(import.meta.dirname, '..', '..', 'tools', 'cli', 'src', 'build.ts');

interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

interface RunOptions {
  stdin?: string;
  env?: NodeJS.ProcessEnv;
}

/** The built program, as a person runs it, with a folder and a configuration folder of its own. */
export interface CommandLine {
  folder(): string;
  /** The folder that has only the session. */
  configuration(): string;
  /** In which `tollkeeper` is on the path. */
  environment(): NodeJS.ProcessEnv;
  start(args: readonly string[], env?: NodeJS.ProcessEnv): ChildProcess;
  run(args: readonly string[], options?: RunOptions): Promise<Ended>;
  /** The output of a command that must succeed. */
  outputOf(args: readonly string[], options?: RunOptions): Promise<string>;
}

export function useCommandLine(): CommandLine {
  let folder: string;
  let environment: NodeJS.ProcessEnv;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollkeeper-e2e-cli-'));
    for (const name of ['work', 'bin']) await mkdir(join(folder, name));
    await promisify(execFile)(process.execPath, [BUILD, join(folder, 'dist')]);
    await symlink(join(folder, 'dist/tollkeeper.js'), join(folder, 'bin/tollkeeper'));
    const { PATH, HOME } = process.env;
    environment = {
      ...{ HOME, XDG_CONFIG_HOME: join(folder, 'configuration') },
      PATH: [join(folder, 'bin'), dirname(process.execPath), PATH].join(':'),
    };
  });
  afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }));

  function start(args: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
    return spawn(process.execPath, [join(folder, 'dist/tollkeeper.js'), ...args], {
      cwd: join(folder, 'work'),
      env: { ...environment, ...env },
    });
  }

  async function run(args: readonly string[], { stdin = '', env = {} }: RunOptions = {}): Promise<Ended> {
    const child = start(args, env);
    let stdout = '';
    let stderr = '';
    child.stdout?.on('data', (chunk: Buffer) => (stdout += chunk));
    child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk));
    // It may end before it has read its input.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(stdin);
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, stdout, stderr };
  }

  return {
    folder: () => join(folder, 'work'),
    configuration: () => join(folder, 'configuration'),
    environment: () => environment,
    start,
    run,
    async outputOf(args, options) {
      const { code, stdout, stderr } = await run(args, options);
      if (code !== 0) throw new Error(`tollkeeper ${args.join(' ')} ended with ${code}:\n${stdout}\n${stderr}`);
      return stdout;
    },
  };
}
