import type { Answer, ProductClient } from './product.client.ts';

const PER_SECOND = 8;
const RETRY_MS = 500;

/** A small steady load: events of one agent, each sent until it is accepted, and reads from three services. */
export interface Load {
  /** The requests since the last call and their failures: first attempts only, with the answers. */
  take(): { sent: number; failed: Failure[] };
  /** Stops sending; resolves to the number of events, once all are accepted. */
  stop(): Promise<number>;
}

export interface Failure {
  what: string;
  status: number;
  text: string;
}

export function startLoad(client: ProductClient, agent: string): Load {
  let stopped = false;
  let sent = 0;
  let failed: Failure[] = [];
  let events = 0;
  const inFlight = new Set<Promise<void>>();

  function note(what: string, { status, text }: Answer): void {
    if (status < 200 || status > 299) failed.push({ what, status, text: text.slice(0, 160) });
  }

  async function report(id: string): Promise<void> {
    let answer = await client.report(agent, id);
    note('event', answer);
    while (answer.status !== 202) {
      await new Promise((settle) => setTimeout(settle, RETRY_MS));
      answer = await client.report(agent, id);
    }
  }

  async function sendNext(number: number): Promise<void> {
    if (number % 2 === 0) return report(`${agent}-${(events += 1)}`);
    const paths = ['/dashboard/spend?range=today', '/alerts/rules', '/management/workspace-keys'] as const;
    const path = paths[Math.floor(number / 2) % paths.length] ?? paths[0];
    note(path, await client.read(path));
  }

  async function run(): Promise<void> {
    for (let number = 0; !stopped; number += 1) {
      sent += 1;
      const call = sendNext(number).finally(() => inFlight.delete(call));
      inFlight.add(call);
      await new Promise((settle) => setTimeout(settle, 1000 / PER_SECOND));
    }
  }

  const running = run();
  return {
    take() {
      const taken = { sent, failed };
      sent = 0;
      failed = [];
      return taken;
    },
    async stop() {
      stopped = true;
      await running;
      await Promise.all(inFlight);
      return events;
    },
  };
}
