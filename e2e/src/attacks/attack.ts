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
  /** Other workspaces of the session, which the attack has made before it. */
  more: TestWorkspace[];
}

/** How often each answer came, by status; `none` where the connection ended or was left without one. */
export type Answers = Map<number | 'none', number>;

export interface Attack {
  name: string;
  /** Made before the attack, so that it takes no time from it. */
  prepare?(sender: Sender): Promise<void>;
  /** Does its worst, if need be until `others` have what they came for, and resolves to what it was answered. */
  strike(sender: Sender, others: Promise<unknown>): Promise<Answers>;
}

/** How long an attack that could go on indefinitely lasts at least, so that others do more meanwhile. */
export const HELD_MS = 5_000;

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

/** Asks so many times, at most `atOnce` at a time. */
export async function inTurns(
  times: number,
  atOnce: number,
  ask: (index: number) => Promise<number | 'none'>,
): Promise<Answers> {
  const answers: Answers = new Map();
  await repeat(times, atOnce, async (index) => count(answers, await ask(index)));
  return answers;
}

/** Asks again and again, `atOnce` at a time, for {@link HELD_MS} and until `others` is settled. */
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
