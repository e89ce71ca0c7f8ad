import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** How a gateway process makes its calls. */
export interface GatewaySettings {
  name: string;
  /** Of the replicas of the enforcer. */
  ports: number[];
  apiKey: string;
  /** Null: it asks for each call. */
  leases: { ttlSeconds: number } | null;
  agents: string[];
  /** The agent whose estimates may be too low. */
  careless: string;
  /** Of half of its calls. */
  planKey: string;
  /** The largest estimate. */
  maxMicros: number;
  seed: number;
  /** The file of its journal. */
  journal: string;
}

export interface Granted {
  askedAt: number;
  at: number;
}

/** `most`: how many calls it may make. `flush`: it makes no further calls. `close`: it returns its leases. */
export type GatewayOrder = { most: number } | { end: End };

export type GatewayReport =
  /** Calls so far, and the newest grant by the enforcer. */
  { made: number; granted: Granted | null } | { ended: End };

type End = 'flush' | 'close';

/** A gateway, which gets a new process with a new journal after each kill. */
export interface GatewaySlot {
  readonly hasLeases: boolean;
  /** The journal of its process. */
  readonly journal: string;
  /** Calls of all of its processes. */
  made(): number;
  allow(calls: number): void;
  end(how: End): Promise<void>;
  /** Returns the journal of the killed process. A new process takes its place. */
  kill(): Promise<string>;
  stop(): void;
}

export async function startGatewaySlot(
  settingsOf: (starts: number) => GatewaySettings,
  onGranted: (granted: Granted) => void,
): Promise<GatewaySlot> {
  let before = 0;
  let made = 0;
  let starts = 0;
  let settings = settingsOf(starts);
  let child = await launch();

  async function launch(): Promise<ChildProcess> {
    const launched = fork(join(import.meta.dirname, 'fault.gateway.main.ts'), {
      env: { PATH: process.env['PATH'], FAULT_GATEWAY: JSON.stringify(settings) },
      execArgv: ['--disable-warning=ExperimentalWarning'],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    launched.on('message', (report: GatewayReport) => {
      if ('ended' in report) return;
      made = report.made;
      if (report.granted !== null) onGranted(report.granted);
    });
    await once(launched, 'message');
    return launched;
  }

  return {
    get hasLeases() {
      return settings.leases !== null;
    },
    get journal() {
      return settings.journal;
    },
    made: () => before + made,
    allow(calls) {
      // Nothing is to be allowed to a process that was just killed.
      if (child.connected) child.send({ most: calls - before } satisfies GatewayOrder, () => undefined);
    },
    async end(how) {
      const ended = new Promise<void>((resolve, reject) => {
        child.on('message', (report: GatewayReport) => 'ended' in report && report.ended === how && resolve());
        child.once('exit', () => reject(new Error(`${settings.name} has ended instead of ${how}`)));
      });
      child.send({ end: how } satisfies GatewayOrder);
      await ended;
    },
    async kill() {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
      const { journal } = settings;
      before += made;
      made = 0;
      starts += 1;
      settings = settingsOf(starts);
      child = await launch();
      return journal;
    },
    stop: () => void child.kill('SIGKILL'),
  };
}
