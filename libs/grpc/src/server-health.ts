import type { Server } from '@grpc/grpc-js';
import { HealthImplementation } from 'grpc-health-check';

/** It would let everybody keep streams open indefinitely. Probes use `Check`. */
const HEALTH_WATCH = '/grpc.health.v1.Health/Watch';

/** The state of a server in the gRPC health protocol. */
export interface ServerHealth {
  /** Resolves after the first report. From then on, `ready` is called repeatedly. */
  start(): Promise<void>;
  /** NOT_SERVING from now on, whatever `ready` says. */
  drain(): void;
  stop(): void;
  readonly isStarted: boolean;
}

/** Health of the whole server (`""`) and of each service by its full name, depending on whether `ready` resolves. */
export function createServerHealth(
  server: Server,
  serviceNames: readonly string[],
  { ready, intervalMs }: { ready: (() => Promise<void>) | undefined; intervalMs: number },
): ServerHealth {
  const names = ['', ...serviceNames];
  const health = new HealthImplementation(Object.fromEntries(names.map((name) => [name, 'NOT_SERVING'])));
  health.addToServer(server);
  server.unregister(HEALTH_WATCH);
  let timer: NodeJS.Timeout | undefined;
  let draining = false;

  function say(serving: boolean): void {
    for (const name of names) health.setStatus(name, serving ? 'SERVING' : 'NOT_SERVING');
  }

  async function publish(): Promise<void> {
    const serving = await (ready?.() ?? Promise.resolve()).then(
      () => true,
      () => false,
    );
    if (timer === undefined) return;
    say(serving && !draining);
    timer.refresh();
  }

  return {
    async start() {
      timer = setTimeout(() => void publish(), intervalMs);
      timer.unref();
      await publish();
    },
    drain() {
      draining = true;
      say(false);
    },
    stop() {
      clearTimeout(timer);
      timer = undefined;
      say(false);
    },
    get isStarted() {
      return timer !== undefined;
    },
  };
}
