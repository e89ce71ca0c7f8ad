import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { killWithOwner } from '@tollkeeper/managed-process';
import type { ServiceName } from '@tollkeeper/topology';
import { heapFlag, NODE_FLAGS } from './node.flags.ts';

const READY_TIMEOUT_MS = 120_000;
const READY_POLL_MS = 100;
/** Longer than a service drains before it gives up itself. */
const STOP_TIMEOUT_MS = 40_000;
const LAST_LINES = 20;

/** A service in its own process, which keeps its ports over all restarts. */
export interface Replica {
  readonly service: ServiceName;
  /** `alerts`, and `alerts-2` and so on for added replicas. */
  readonly name: string;
  /** Changes at each start; undefined while the process does not run. */
  readonly pid: number | undefined;
  /** Origin of its HTTP server, if it has one. */
  readonly httpUrl: string;
  /** `host:port` of its gRPC server, if it has one. */
  readonly grpcAddress: string;
  /** Origin of `/healthz`, `/readyz` and `/metrics`. */
  readonly opsUrl: string;
  /** Starts the process unless it runs. `ready` reports whether it works. */
  launch(): void;
  /**
   * Resolves once `/readyz` reports ready. Rejects with the reason if the process ends, or is not ready within two
   * minutes.
   */
  ready(): Promise<void>;
  /** Resolves to the exit code once the process is gone (null if a signal ended it, or it did not run). */
  kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null>;
  /** Drains a running process first, and resolves once the new one is ready. */
  restart(): Promise<void>;
  /** Drains it, and resolves once it is gone. */
  stop(): Promise<void>;
}

export interface ReplicaOptions {
  service: ServiceName;
  name: string;
  /** The JavaScript file that Node runs. */
  bundle: string;
  /** The complete environment of the process. */
  env: NodeJS.ProcessEnv;
  httpUrl: string;
  grpcAddress: string;
  opsUrl: string;
  /** Each line that the process prints. */
  onLine: (line: string) => void;
  /** Called when the process ends unexpectedly, with a sentence that says how and its last lines. */
  onUnexpectedExit: (reason: string, lastLines: readonly string[]) => void;
}

interface Running {
  child: ChildProcessByStdio<null, Readable, Readable>;
  /** Resolves to how it ended, once all of its output has been read. */
  exited: Promise<{ code: number | null; reason: string }>;
  asked: boolean;
}

/** Creates a replica without starting it. */
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
    // Its own process group, so that Ctrl-C in the terminal reaches only the fleet, which stops them in order.
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

/** Null if the service is ready. */
async function reasonNotReady(opsUrl: string): Promise<string | null> {
  try {
    const answer = await fetch(`${opsUrl}/readyz`, { signal: AbortSignal.timeout(10_000) });
    return answer.ok ? null : ((await answer.json()) as { reason: string }).reason;
  } catch {
    return 'it does not answer yet';
  }
}
