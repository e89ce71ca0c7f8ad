import type { Answer, ProductClient } from './product.client.ts';

const PER_SECOND = 8;
const RETRY_MS = 500;

/** From different services. */
const READS = ['/dashboard/spend?range=today', '/alerts/rules', '/management/workspace-keys', '/limits'];

/**
 * A small steady load: events of one agent, each sent until it is accepted; calls that are reserved and settled; reads
 * from several services; and a page of the console.
 */
export interface Load {
  /** The requests since the last call and their failures: first attempts only, with the answers. */
  take(): { sent: number; failed: Failure[] };
  /** Stops sending; resolves once all is accepted, to the number of settled calls. */
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
  let calls = 0;
  const inFlight = new Set<Promise<void>>();

  function note(what: string, answer: Answer): void {
    const { status, text } = answer;
    sent += 1;
    if (!isSuccess(answer)) failed.push({ what, status, text: text.slice(0, 160) });
  }

  /** Repeats the call until it is accepted, and counts a failure of the first attempt. */
  async function insist(what: string, call: () => Promise<Answer>): Promise<Answer> {
    let answer = await call();
    note(what, answer);
    while (!isSuccess(answer)) {
      await new Promise((settle) => setTimeout(settle, RETRY_MS));
      answer = await call();
    }
    return answer;
  }

  async function reserve(id: string): Promise<void> {
    const answer = await insist('reservation', () => client.reserve(agent, id));
    const { reservation } = JSON.parse(answer.text) as { reservation?: { id: string } };
    // Denied, although there is no budget.
    if (reservation === undefined) failed.push({ what: 'reservation', ...answer });
    else await insist('settlement', () => client.settle(reservation.id));
  }

  async function sendNext(number: number): Promise<void> {
    const turn = Math.floor(number / 2);
    if (number % 2 === 0) {
      const id = `${agent}-${(calls += 1)}`;
      if (turn % 2 === 0) await insist('event', () => client.report(agent, id));
      else await reserve(id);
      return;
    }
    const path = READS[turn % (READS.length + 1)];
    if (path === undefined) note('page', await client.page());
    else note(path, await client.read(path));
  }

  async function run(): Promise<void> {
    for (let number = 0; !stopped; number += 1) {
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
      return calls;
    },
  };
}

function isSuccess({ status }: Answer): boolean {
  return status >= 200 && status <= 299;
}
