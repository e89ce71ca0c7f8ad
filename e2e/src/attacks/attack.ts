import { type ApiClient } from '../api.client.ts';
import type { CloudEvent } from '../events.ts';
import { repeat } from '../load.ts';
import type { Target } from '../target.ts';
import { EVENTS_PATH, postEvents, type TestWorkspace } from '../workspace.ts';

/** One sender: a session and a workspace of its own with a key. */
export interface Sender {
  target: Target;
  session: ApiClient;
  workspace: TestWorkspace;
  /** Further workspaces of the session, created before the attack. */
  more: TestWorkspace[];
}

/** Number of answers by status; `none` if the connection ended or got no answer. */
export type Answers = Map<number | 'none', number>;

export interface Attack {
  name: string;
  /** Runs before the attack, so that it takes no time from it. */
  prepare?(sender: Sender): Promise<void>;
  /** Attacks, if necessary until `others` is settled, and resolves to the answers. */
  strike(sender: Sender, others: Promise<unknown>): Promise<Answers>;
}

/** Least duration of an attack that could continue indefinitely, so that others do more meanwhile. */
export const HELD_MS = 3_000;

export const post = ({ target, workspace }: Pick<Sender, 'target' | 'workspace'>, events: CloudEvent[]) =>
  statusOf(postEvents(target, workspace.apiKey, events));

export const postText = ({ target, workspace }: Sender, body: string) =>
  statusOf(
    fetch(`${target.baseUrl}${EVENTS_PATH}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${workspace.apiKey}`,
        'content-type': 'application/cloudevents-batch+json',
      },
      body,
    }),
  );

export function statusOf(answer: Promise<{ status: number }>): Promise<number | 'none'> {
  return answer.then(
    ({ status }) => status,
    () => 'none' as const,
  );
}

/** Sends this many requests, at most `atOnce` at a time. */
export async function inTurns(
  times: number,
  atOnce: number,
  ask: (index: number) => Promise<number | 'none'>,
): Promise<Answers> {
  const answers: Answers = new Map();
  await repeat(times, atOnce, async (index) => count(answers, await ask(index)));
  return answers;
}

/** Sends requests continuously, `atOnce` at a time, for {@link HELD_MS} and until `others` is settled. */
export async function allTheTime(
  atOnce: number,
  others: Promise<unknown>,
  ask: (index: number) => Promise<number | 'none'>,
): Promise<Answers> {
  const answers: Answers = new Map();
  const end = performance.now() + HELD_MS;
  let settled = false;
  const settle = () => void (settled = true);
  void others.then(settle, settle);
  let next = 0;
  const asking = async (): Promise<void> => {
    while (!settled || performance.now() < end) count(answers, await ask(next++));
  };
  await Promise.all(Array.from({ length: atOnce }, asking));
  return answers;
}

export function count(answers: Answers, answer: number | 'none'): void {
  answers.set(answer, (answers.get(answer) ?? 0) + 1);
}
