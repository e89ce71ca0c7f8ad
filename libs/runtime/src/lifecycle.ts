import type { Logger } from './logger.ts';

/** A part of a process that is started and stopped: a server, a connection, a consumer, or a whole service. */
export interface Component {
  readonly name: string;
  /** Resolves when the part does its work. Rejects with a message that says what to do. */
  start(): Promise<void>;
  /** Finishes what is under way and lets go of everything. Idempotent; also safe on a part that never started. */
  stop(): Promise<void>;
  /** Rejects with the reason while the part cannot do its work. Absent: ready once started. */
  ready?(): Promise<void>;
}

export interface LifecycleOptions {
  name?: string;
  /** Milliseconds between becoming not ready and stopping the first part, for load balancers to notice. */
  drainDelayMs?: number;
}

/**
 * Parts as one: started in order, stopped in reverse.
 *
 * When a part fails to start, those already started are stopped and the failure is thrown. `stop` tries every part
 * though one fails, and then throws what failed; called while starting, it lets the part under way finish, starts no
 * other, and stops. `ready` rejects before the start is complete, from the moment of `stop`, and while a part does.
 */
export function createLifecycle(
  components: readonly Component[],
  logger: Logger,
  { name = 'lifecycle', drainDelayMs = 0 }: LifecycleOptions = {},
): Component {
  const started: Component[] = [];
  let state: 'new' | 'starting' | 'started' | 'stopping' = 'new';
  let starting: Promise<void> = Promise.resolve();
  let stopping: Promise<void> | undefined;

  async function startAll(): Promise<void> {
    for (const component of components) {
      if (state === 'stopping') throw new Error(`${name} was stopped while it started`);
      try {
        await component.start();
      } catch (error) {
        // The part may have got half way; its stop is safe then too.
        await stopAll([...started, component]).catch((err: unknown) => logger.error({ err }, 'clean-up failed'));
        started.length = 0;
        throw error;
      }
      started.push(component);
      logger.debug({ component: component.name }, 'started');
    }
    if (state === 'starting') state = 'started';
  }

  async function stopAll(running: readonly Component[]): Promise<void> {
    const failures: unknown[] = [];
    for (const component of running.toReversed()) {
      try {
        await component.stop();
        logger.debug({ component: component.name }, 'stopped');
      } catch (err) {
        logger.error({ err, component: component.name }, 'stop failed');
        failures.push(err);
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, `${name}: ${failures.length} parts failed to stop`);
  }

  async function drain(): Promise<void> {
    const serving = state === 'started';
    state = 'stopping';
    await starting.catch(() => undefined);
    if (serving && drainDelayMs > 0) await new Promise((resolve) => setTimeout(resolve, drainDelayMs));
    await stopAll(started.splice(0));
  }

  return {
    name,
    start() {
      state = 'starting';
      starting = startAll();
      return starting;
    },
    stop() {
      stopping ??= drain();
      return stopping;
    },
    async ready() {
      if (state !== 'started') throw new Error(`${name} is ${state === 'stopping' ? 'stopping' : 'starting'}`);
      const results = await Promise.allSettled(components.map(async (component) => component.ready?.()));
      const reasons = results.flatMap((result, index) =>
        result.status === 'rejected' ? [`${components[index]?.name}: ${reasonOf(result.reason)}`] : [],
      );
      if (reasons.length > 0) throw new Error(reasons.join('; '));
    },
  };
}

/**
 * `component` without a say in readiness: for a peer whose absence costs a service some answers and not all, so that
 * one service's outage does not take those that ask it out of rotation.
 */
export function withoutReadiness({ name, start, stop }: Component): Component {
  return { name, start, stop };
}

function reasonOf(reason: unknown): string {
  return reason instanceof Error ? reason.message : String(reason);
}
