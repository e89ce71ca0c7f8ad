import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

export interface ServerProcess<Address> {
  readonly address: Address;
  readonly process: ChildProcess;
  stop(): Promise<void>;
}

/** Starts a script of `servers/` as a separate process, with Node flags. Resolves once it reports its address. */
export async function startServer<Address>(
  script: string,
  env: Record<string, string> = {},
  flags: readonly string[] = [],
): Promise<ServerProcess<Address>> {
  const child = fork(join(import.meta.dirname, 'servers', script), {
    env: { ...process.env, ...env },
    execArgv: [...process.execArgv, ...flags],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const gone = once(child, 'exit').then(([code]) => Promise.reject(new Error(`${script} ended with ${String(code)}`)));
  const [address] = (await Promise.race([once(child, 'message'), gone])) as [Address];
  gone.catch(() => undefined);
  return { address, process: child, stop: () => stopProcess(child) };
}

/** The answer of the process to a message. Rejects if it ends instead. */
export async function askServer({ process: child }: ServerProcess<unknown>, request: object): Promise<unknown> {
  const over = new AbortController();
  const gone = once(child, 'exit', over).then(([code]) => {
    throw new Error(`A process that was asked ended with ${String(code)}`);
  });
  child.send(request);
  try {
    const [answer] = (await Promise.race([once(child, 'message', over), gone])) as [unknown];
    return answer;
  } finally {
    gone.catch(() => undefined);
    over.abort();
  }
}

/** Stops the process and waits until it has ended. */
export async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}
