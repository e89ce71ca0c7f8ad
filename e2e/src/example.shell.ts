import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Target } from './target.ts';

/** Settings of the machine that change where a program sends its calls or its telemetry. */
const OF_SENDERS = /^(ANTHROPIC|CLAUDE|CODEX|LANGFUSE|LITELLM|MLFLOW|NODE_OPTIONS|OPENAI|OTEL|TOLLKEEPER)/;
const STRICT = ['-euo', 'pipefail', '-c'];
/** Ends the shell with all that it started when descriptor 3 is closed, also because its owner has died. */
const ENDS_WITH_OWNER = '(read -r line <&3 || kill -s KILL 0) & exec 3<&-\n';

/** What a script left running. */
export interface RunningShell {
  end(): Promise<void>;
}

/** The environment of a person who follows a README. */
export function environmentOf({ baseUrl, apiKey, owner }: Target): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !OF_SENDERS.test(name));
  return {
    ...Object.fromEntries(inherited),
    // Node and npm of a person are not those of the suite, but as new as these.
    PATH: `${dirname(process.execPath)}:${process.env['PATH']}`,
    // Python compiles what it imports, which is a small part of the packages.
    PIP_NO_COMPILE: '1',
    TOLLKEEPER_URL: baseUrl,
    TOLLKEEPER_KEY: apiKey,
    TOLLKEEPER_EMAIL: owner.email,
    TOLLKEEPER_PASSWORD: owner.password,
  };
}

/** Runs the script in bash until its last command has ended; rejects with its output if a command fails. */
export async function runScript(script: string, cwd: string, env: NodeJS.ProcessEnv): Promise<RunningShell> {
  const file = join(cwd, 'output.log');
  const output = await open(file, 'w');
  const shell = spawn('bash', [...STRICT, ENDS_WITH_OWNER + script], {
    ...{ cwd, env, detached: true },
    stdio: ['ignore', output.fd, output.fd, 'pipe'],
  });
  const end = async () => {
    shell.stdio[3]?.destroy();
    await output.close();
  };
  const [exitCode] = (await once(shell, 'exit')) as [number | null];
  if (exitCode === 0) return { end };
  await end();
  throw new Error(`The commands ended with ${exitCode}:\n${(await readFile(file, 'utf8')).slice(-6_000)}`);
}

/** The output of a command that ends; rejects if it fails. */
export async function outputOf(command: string, cwd: string, env: NodeJS.ProcessEnv): Promise<string> {
  const { stdout } = await promisify(execFile)('bash', [...STRICT, command], { cwd, env });
  return stdout;
}
