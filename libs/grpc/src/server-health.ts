import { type sendUnaryData, type Server, type ServerUnaryCall, status } from '@grpc/grpc-js';
import { healthService } from '@tollkeeper/contracts';

/** The state of a server in the gRPC health protocol. */
export interface ServerHealth {
  /** Resolves after the first report. From then on, `ready` is called repeatedly. */
  start(): Promise<void>;
  /** NOT_SERVING from now on, whatever `ready` says. */
  drain(): void;
  stop(): void;
  readonly isStarted: boolean;
}

const UNKNOWN_SERVICE = { code: status.NOT_FOUND, details: 'This server has no such service.' };

/** Health of the whole server (`""`) and of each service by its full name, depending on whether `ready` resolves. */
export function addHealth(
  server: Server,
  serviceNames: readonly string[],
  { ready, intervalMs }: { ready: (() => Promise<void>) | undefined; intervalMs: number },
): ServerHealth {
  const names = new Set(['', ...serviceNames]);
  let isServing = false;
  let timer: NodeJS.Timeout | undefined;
  let draining = false;

  // No `Watch`: it would let everybody keep streams open indefinitely. Probes use `Check`.
  server.addService(healthService, {
    Check({ request }: ServerUnaryCall<{ service: string }, object>, callback: sendUnaryData<object>) {
      if (names.has(request.service)) callback(null, { status: isServing ? 'SERVING' : 'NOT_SERVING' });
      else callback(UNKNOWN_SERVICE);
    },
  });

  async function publish(): Promise<void> {
    const serving = await (ready?.() ?? Promise.resolve()).then(
      () => true,
      () => false,
    );
    if (timer === undefined) return;
    isServing = serving && !draining;
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
      isServing = false;
    },
    stop() {
      clearTimeout(timer);
      timer = undefined;
      isServing = false;
    },
    get isStarted() {
      return timer !== undefined;
    },
  };
}
