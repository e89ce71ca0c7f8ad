import type { Logger } from './logger.ts';

/** A part of a process that is started and stopped: a server, a connection, a consumer, or a whole service. */
export interface Component {
  readonly name: string;
  /**
   * Resolves when the part works. Waits without limit for a server that it cannot work without. Rejects, with a message
   * that says what to do, if waiting does not help.
   */
  start(): Promise<void>;
  /**
   * Announces that `stop` comes soon: the part continues to work, and asks its callers to go elsewhere. A start that
   * waits gives up and rejects. Idempotent.
   */
  drain?(): void;
  /** Finishes work in progress and releases everything. Idempotent; also safe on a part that never started. */
  stop(): Promise<void>;
  /** Rejects with the reason while the part cannot do its work. Absent: ready once started. */
  ready?(): Promise<void>;
  /**
   * Rejects with what the part cannot do although it is ready. This informs the operator; requests still reach the
   * part. So one workspace that causes a failure does not take the part from all others.
   */
  impaired?(): Promise<void>;
}

export interface LifecycleOptions {
  name?: string;
  /**
   * Milliseconds between draining, which makes it not ready, and stopping the first part, so that load balancers
   * notice.
   */
  drainDelayMs?: number;
}

/**
 * Combines parts into one: started in order, stopped in reverse.
 *
 * When a part fails to start, those already started are stopped and the failure is thrown. `stop` drains, then tries to
 * stop every part even if one fails, and throws the failures. Called during the start, it lets the current part finish
 * or give up, starts no other, and stops. `ready` rejects until the start is complete, from `drain` or `stop` on, and
 * while a part does.
 */
export function createLifecycle(
  components: readonly Component[],
  logger: Logger,
  { name = 'lifecycle', drainDelayMs = 0 }: LifecycleOptions = {},
): Component {
  const started: Component[] = [];
  let state: 'new' | 'starting' | 'started' | 'draining' | 'stopping' = 'new';
  let starting: Promise<void> = Promise.resolve();
  let stopping: Promise<void> | undefined;
  /** The part that is starting. */
  let current: Component | undefined;

  async function startAll(): Promise<void> {
    for (const component of components) {
      if (state === 'stopping') throw new Error(`${name} was stopped while it started`);
      current = component;
      try {
        await component.start();
      } catch (error) {
        // The part may have started halfway; its stop is safe then too.
        await stopAll(name, [...started, component], logger).catch((err: unknown) =>
          logger.error({ err }, 'cleanup after a failed start failed'),
        );
        started.length = 0;
        throw error;
      }
      started.push(component);
      logger.debug({ component: component.name }, 'started');
    }
    current = undefined;
    if (state === 'starting') state = 'started';
  }

  function drain(): void {
    if (state === 'starting') {
      state = 'stopping';
      current?.drain?.();
    }
    if (state !== 'started') return;
    state = 'draining';
    for (const component of started) component.drain?.();
  }

  async function drainAndStop(): Promise<void> {
    drain();
    const serving = state === 'draining';
    state = 'stopping';
    await starting.catch(() => undefined);
    if (serving && drainDelayMs > 0) await new Promise((resolve) => setTimeout(resolve, drainDelayMs));
    await stopAll(name, started.splice(0), logger);
  }

  return {
    name,
    start() {
      state = 'starting';
      starting = startAll();
      return starting;
    },
    drain,
    stop() {
      stopping ??= drainAndStop();
      return stopping;
    },
    async ready() {
      // During the start, the current part says what it waits for.
      const asked = state === 'started' ? components : state === 'starting' && current ? [current] : [];
      const reasons = await reasonsOf(asked, 'ready');
      if (state !== 'started') reasons.unshift(`${name} is ${state === 'new' ? 'starting' : state}`);
      if (reasons.length > 0) throw new Error(reasons.join('; '));
    },
    async impaired() {
      const reasons = await reasonsOf(state === 'started' ? components : [], 'impaired');
      if (reasons.length > 0) throw new Error(reasons.join('; '));
    },
  };
}

async function stopAll(name: string, running: readonly Component[], logger: Logger): Promise<void> {
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

async function reasonsOf(components: readonly Component[], question: 'ready' | 'impaired'): Promise<string[]> {
  const results = await Promise.allSettled(components.map(async (component) => component[question]?.()));
  return results.flatMap((result, index) =>
    result.status === 'rejected' ? [`${components[index]?.name}: ${reasonOf(result.reason)}`] : [],
  );
}

function reasonOf(reason: unknown): string {
  return reason instanceof Error ? reason.message : String(reason);
}
