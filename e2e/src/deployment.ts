import type { WatchedProcess } from './memory.watch.ts';
import type { Target } from './target.ts';
import type { WebhookReceiver } from './webhook.receiver.ts';

/** A Tollkeeper that the suites may stop. After a restart it is the same target. */
export interface Deployment extends Target {
  /** Sends the signal to all of its processes at once. Resolves to their exit codes once they are gone. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<(number | null)[]>;
  /** Starts it again on its data; resolves once it is ready. */
  start(): Promise<void>;
  /** Its running processes. */
  processes(): WatchedProcess[];
}

/** What the suites run on. Valid between `beforeAll` and `afterAll`. */
export interface Stage {
  deployment(): Deployment;
  /** A destination that the deployment may send to. */
  receiver(): WebhookReceiver;
}
