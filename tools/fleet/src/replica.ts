import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { killWithOwner } from '@tollkeeper/managed-process';
import type { ServiceName } from '@tollkeeper/topology';
import { heapFlag, NODE_FLAGS } from './node.flags.ts';

const READY_TIMEOUT_MS = 120_000;
const READY_POLL_MS = 100;
/** Longer than a service takes for its drain before it gives up itself. */
const STOP_TIMEOUT_MS = 40_000;
const LAST_LINES = 20;

/** A service in a process of its own, which keeps its ports over all restarts. */
export interface Replica {
  readonly service: ServiceName;
  /** `alerts`, and `alerts-2` and so on for the replicas that were added. */
  readonly name: string;
  /** Another one after each start; undefined while the process does not run. */
  readonly pid: number | undefined;
  /** Origin of its HTTP server, where the service has one. */
  readonly httpUrl: string;
  /** `host:port` of its gRPC server, where the service has one. */
  readonly grpcAddress: string;
  /** Origin of `/healthz`, `/readyz` and `/metrics`. */
  readonly opsUrl: string;
  /** Starts the process unless it runs; whether it gets on is for `ready` to say. */
  launch(): void;
  /**
   * Resolves once `/readyz` says so. Rejects with the reason when the process ends, or is not ready within two minutes.
   */
  ready(): Promise<void>;
  /** Resolves, once the process is gone, to its exit code (null when a signal ended it, or it did not run). */
  kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null>;
  /** Lets a process that runs drain first, and resolves once the new one is ready. */
  restart(): Promise<void>;
  /** Lets it drain, and resolves once it is gone. */
  stop(): Promise<void>;
}

export interface ReplicaOptions {
  service: ServiceName;
  name: string;
  /** The JavaScript file that Node runs. */
  bundle: string;
  /** The process's whole environment. */
  env: NodeJS.ProcessEnv;
  httpUrl: string;
  grpcAddress: string;
  opsUrl: string;
  /** Each line that the process prints. */
  onLine: (line: string) => void;
  /** Called when the process ends without having been asked to, with a sentence that says how and its last lines. */
  onUnexpectedExit: (reason: string, lastLines: readonly string[]) => void;
}

interface Running {
  child: ChildProcessByStdio<null, Readable, Readable>;
  /** Resolves to how it ended, once all that it printed has been read. */
  exited: Promise<{ code: number | null; reason: string }>;
  asked: boolean;
}

/** Not started yet. */
export function createReplica({
  service,
  name,
  bundle,
  env,
  httpUrl,
  grpcAddress,
  opsUrl,
  onLine,
  onUnexpectedExit,
}: ReplicaOptions): Replica {
  let running: Running | undefined;
  let ended = `${name} has not been started`;

  function launch(): void {
    if (running !== undefined) return;
    // A process group of its own: Ctrl-C in the terminal must reach nobody but the fleet, which stops them in order.
    const child = spawn(process.execPath, [...NODE_FLAGS, heapFlag(service), bundle], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    const unwatch = child.pid === undefined ? () => undefined : killWithOwner(child.pid, 'SIGTERM');
    const lastLines: string[] = [];
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        lastLines.push(line);
        lastLines.splice(0, lastLines.length - LAST_LINES);
        onLine(line);
      });
    }
    const exited = new Promise<{ code: number | null; reason: string }>((settle) => {
      child.once('error', (error) => settle({ code: null, reason: `${name} could not be started: ${error.message}` }));
      child.once('close', (code, signal) =>
        settle({ code, reason: `${name} ended with ${signal ?? `exit code ${code}`}` }),
      );
    });
    const own: Running = { child, exited, asked: false };
    running = own;
    void exited.then(({ reason }) => {
      unwatch();
      running = undefined;
      ended = [reason, ...lastLines].join('\n');
      if (!own.asked) onUnexpectedExit(reason, lastLines);
    });
  }

  async function kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
    if (running === undefined) return null;
    const { child, exited } = running;
    running.asked = true;
    child.kill(signal);
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    const { code } = await exited;
    clearTimeout(timer);
    return code;
  }

  async function ready(): Promise<void> {
    const deadline = Date.now() + READY_TIMEOUT_MS;
    for (;;) {
      if (running === undefined) throw new Error(ended);
      const reason = await reasonNotReady(opsUrl);
      if (reason === null) return;
      if (Date.now() > deadline) throw new Error(`${name} is not ready after ${READY_TIMEOUT_MS / 1000} s: ${reason}`);
      await new Promise((resolve) => setTimeout(resolve, READY_POLL_MS));
    }
  }

  return {
    ...{ service, name, httpUrl, grpcAddress, opsUrl, launch, ready, kill },
    get pid() {
      return running?.child.pid;
    },
    async restart() {
      await kill('SIGTERM');
      launch();
      await ready();
    },
    stop: async () => void (await kill('SIGTERM')),
  };
}

/** Null when the service is ready. */
async function reasonNotReady(opsUrl: string): Promise<string | null> {
  try {
    const answer = await fetch(`${opsUrl}/readyz`, { signal: AbortSignal.timeout(10_000) });
    return answer.ok ? null : ((await answer.json()) as { reason: string }).reason;
  } catch {
    return 'it does not answer yet';
  }
}
