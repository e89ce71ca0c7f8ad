import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { ApiClient } from './api.client.ts';
import { type CloudEvent, cloudEvent, spendSettled } from './events.ts';
import { repeat } from './load.ts';
import type { Target } from './target.ts';
import { EVENTS_PATH, postEvents, type TestWorkspace } from './workspace.ts';

/** One sender: a session and a workspace of its own with a key. */
export interface Sender {
  target: Target;
  session: ApiClient;
  workspace: TestWorkspace;
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

const DAY_MS = 86_400_000;
/** How long connections that wait for nothing to come are held at least, so that others do more meanwhile. */
const HELD_MS = 5_000;
const RULES = 300;
const RULES_AT_ONCE = 8;

export const ATTACKS: readonly Attack[] = [
  {
    name: 'a replay: 10 batches of 1,000 settlements over 30 days, 100 agents, 4 models',
    strike: (sender) => inTurns(10, 2, () => post(sender, replayed(1000))),
  },
  {
    name: '300 rules that fire with each of 1,120 events with ids of 128 characters',
    async prepare({ session, workspace }) {
      await repeat(RULES, RULES_AT_ONCE, (index) => createRule(session, workspace, index));
    },
    strike: (sender) => inTurns(4, 1, () => post(sender, longIds(280))),
  },
  {
    name: '1,030 connections with a session, each of them with a byte of its body',
    strike: ({ target, workspace, session }, others) =>
      holdConnections(target, 1030, others, () => ({
        head: `POST ${workspace.path('/agents')} HTTP/1.1\r\nCookie: ${session.cookie ?? ''}`,
        type: 'application/json',
        bytes: 100,
        sent: '{',
      })),
  },
  {
    name: '1,050 connections to log in, from 21 addresses, each with a byte of its body',
    strike: ({ target }, others) =>
      holdConnections(target, 1050, others, () => ({
        head: 'POST /api/v1/auth/login HTTP/1.1',
        type: 'application/json',
        bytes: 100,
        sent: '{',
      })),
  },
  {
    name: '400 batches of 1 MB that lack their last byte',
    strike: ({ target, workspace }, others) =>
      holdConnections(target, 400, others, () => ({
        head: `POST ${EVENTS_PATH} HTTP/1.1\r\nAuthorization: Bearer ${workspace.apiKey}`,
        type: 'application/cloudevents-batch+json',
        bytes: 1_000_001,
        sent: ' '.repeat(1_000_000),
      })),
  },
  {
    name: '24 batches of 5 MB, 1,000 events with 400 unknown fields each, 12 at a time',
    async strike(sender) {
      const body = JSON.stringify(unknownFields(1000, 400));
      return inTurns(24, 12, () => postText(sender, body));
    },
  },
  {
    name: 'a flood of 120,000 events as fast as they are taken, 8 batches of 1,000 at a time',
    strike: (sender) => inTurns(120, 8, () => post(sender, settled(1000))),
  },
];

async function createRule(session: ApiClient, workspace: TestWorkspace, index: number): Promise<void> {
  const body = {
    name: `Rule ${index}`,
    severity: 'low',
    scope_type: 'workspace',
    scope_id: workspace.id,
    rule_kind: 'event_count_gte',
    rule_config: { window_seconds: 1, threshold: 1 },
    cooldown_seconds: 2_592_000,
  };
  await session.expect({ method: 'POST', path: workspace.path('/alerts/rules'), body, status: 201 });
}

function replayed(count: number): CloudEvent[] {
  return Array.from({ length: count }, (_, index) => {
    const event = spendSettled({
      agentId: `agent-${index % 100}`,
      runId: randomUUID(),
      amountMicros: 1,
      time: new Date(Date.now() - (index / count) * 30 * DAY_MS).toISOString(),
    });
    return { ...event, data: { ...event.data, model: `model-${index % 4}` } };
  });
}

function longIds(count: number): CloudEvent[] {
  return Array.from({ length: count }, () => cloudEvent('load.event', {}, { id: randomUUID().padEnd(128, 'x') }));
}

function settled(count: number): CloudEvent[] {
  return Array.from({ length: count }, (_, index) => spendSettled({ agentId: `agent-${index % 20}`, amountMicros: 1 }));
}

/** Each name is another one, so each takes memory of its own. */
function unknownFields(count: number, fields: number): object[] {
  const names = Array.from({ length: fields }, (_, field) => field);
  return settled(count).map((event, index) => ({
    ...event,
    data: Object.fromEntries(names.map((field) => [`${index}_${field}`, 0])),
  }));
}

const post = ({ target, workspace }: Sender, events: CloudEvent[]) =>
  statusOf(postEvents(target, workspace.apiKey, events));

const postText = ({ target, workspace }: Sender, body: string) =>
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

function statusOf(answer: Promise<{ status: number }>): Promise<number | 'none'> {
  return answer.then(
    ({ status }) => status,
    () => 'none' as const,
  );
}

/** Asks so many times, at most `atOnce` at a time. */
async function inTurns(times: number, atOnce: number, ask: () => Promise<number | 'none'>): Promise<Answers> {
  const answers: Answers = new Map();
  await repeat(times, atOnce, async () => count(answers, await ask()));
  return answers;
}

function count(answers: Answers, answer: number | 'none'): void {
  answers.set(answer, (answers.get(answer) ?? 0) + 1);
}

interface HeldRequest {
  /** Request line and headers, without what says how long the body is. */
  head: string;
  type: string;
  bytes: number;
  /** What is sent of the body. */
  sent: string;
}

/**
 * Opens connections from 21 addresses that each send a part of a request. Holds them, as far as they are let, for
 * {@link HELD_MS} and until `others` is settled.
 */
async function holdConnections(
  target: Target,
  connections: number,
  others: Promise<unknown>,
  request: () => HeldRequest,
): Promise<Answers> {
  const answers: Answers = new Map();
  const sockets: Socket[] = [];
  const { port } = new URL(target.baseUrl);
  const ended = Array.from({ length: connections }, (_, index) => {
    const { head, type, bytes, sent } = request();
    const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress: `127.0.0.${2 + (index % 21)}` });
    sockets.push(socket);
    socket.write(`${head}\r\nHost: 127.0.0.1\r\nContent-Type: ${type}\r\nContent-Length: ${bytes}\r\n\r\n${sent}`);
    return new Promise<void>((resolve) => {
      let answer: number | 'none' = 'none';
      socket.once('data', (chunk: Buffer) => (answer = Number(/^HTTP\/1\.1 (\d{3})/.exec(chunk.toString())?.[1])));
      socket.on('error', () => undefined);
      socket.once('close', () => {
        count(answers, answer);
        resolve();
      });
      socket.resume();
    });
  });
  await Promise.allSettled([others, delay(HELD_MS)]);
  for (const socket of sockets) socket.destroy();
  await Promise.all(ended);
  return answers;
}
