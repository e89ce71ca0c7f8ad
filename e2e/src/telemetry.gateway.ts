import type { ApiClient } from './api.client.ts';
import { createReportingGateway, type ReportingGateway } from './reporting.gateway.ts';
import type { PostAnswer } from './resend.ts';
import { randomOf } from './senders/generated.call.ts';
import { newSenderWorkspace } from './senders/sender.workspace.ts';
import type { Sender } from './senders/sender.ts';
import type { Target } from './target.ts';

/** Bodies of which another copy is sent although the first one may have been accepted. */
const PART_SENT_TWICE = 1 / 4;

/** A workspace whose gateway reports calls by telemetry. Calls are numbers. */
export interface TelemetryWorkspace {
  readonly gateway: ReportingGateway<number>;
  /** The next calls of a steady stream. */
  nextBatch(size: number): number[];
  /** Number of bodies that were sent twice. */
  readonly sentTwice: number;
  /** Number of calls that the dashboard counts. */
  counted(): Promise<number>;
  /** Checks that all accepted calls are counted, each once, and what they cost. Throws if not (yet). */
  expectExact(): Promise<void>;
}

/** The gateway sends a body again as exporters do, and some bodies twice at the same time. */
export async function newTelemetryWorkspace(
  options: { target: Target; owner: ApiClient; sender: Sender },
  name: string,
): Promise<TelemetryWorkspace> {
  const workspace = await newSenderWorkspace(options, name);
  const random = randomOf(name);
  let calls = 0;
  let sentTwice = 0;

  async function post(batch: readonly number[]): Promise<PostAnswer> {
    const answer = workspace.post(batch);
    if (random() >= PART_SENT_TWICE) return answer;
    sentTwice += 1;
    await Promise.allSettled([answer, workspace.post(batch)]);
    // The gateway does not know about the other one.
    return answer;
  }

  const gateway = createReportingGateway(post);
  return {
    gateway,
    nextBatch: (size) => Array.from({ length: size }, () => calls++),
    get sentTwice() {
      return sentTwice;
    },
    counted: () => workspace.counted(),
    expectExact: () => workspace.expectExactly(workspace.figuresOf(gateway.accepted)),
  };
}
