import type { WatchedProcess } from './memory.watch.ts';
import type { Target } from './target.ts';
import type { WebhookReceiver } from './webhook.receiver.ts';

/** A Tollkeeper that the suites may take down: it is the same target before and after. */
export interface Deployment extends Target {
  /** Sends the signal to all of its processes at once and resolves, once they are gone, to their exit codes. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<(number | null)[]>;
  /** Starts it on the data that it had; resolves once it is ready. */
  start(): Promise<void>;
  /** Those of its processes that run now. */
  processes(): WatchedProcess[];
}

/** What the suites run on. Valid between `beforeAll` and `afterAll`. */
export interface Stage {
  deployment(): Deployment;
  /** A destination that the deployment may send to. */
  receiver(): WebhookReceiver;
}
