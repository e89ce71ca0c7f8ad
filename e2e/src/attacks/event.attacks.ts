import { randomUUID } from 'node:crypto';
import type { ApiClient } from '../api.client.ts';
import { type CloudEvent, cloudEvent, spendSettled } from '../events.ts';
import { atRate, repeat } from '../load.ts';
import { newWorkspace, type TestWorkspace } from '../workspace.ts';
import { type Answers, type Attack, count, HELD_MS, inTurns, post, postText } from './attack.ts';
import { setTimeout as delay } from 'node:timers/promises';

const DAY_MS = 86_400_000;
const RULES = 300;
const SPENDERS = 4;
const RULES_OF_SPENDER = 100;
const RULES_AT_ONCE = 8;
const WIDE_AGENTS = 10;
const WIDE_MODELS = 1_000;

/** Fires with the first event, and is suppressed for all others. */
const EACH_EVENT = { rule_kind: 'event_count_gte', rule_config: { window_seconds: 1, threshold: 1 } };
/** Stores as many settlements as a rule may. */
const SPEND_OF_A_DAY = {
  rule_kind: 'spend_gte',
  rule_config: { window_seconds: 86_400, threshold_micros: 1_000_000_000_000_000 },
};

/** Events that are expensive to count, to evaluate, to decide on, or to store. */
export const EVENT_ATTACKS: readonly Attack[] = [
  {
    name: 'a replay: 10 batches of 1,000 settlements over 30 days, 100 agents, 4 models',
    strike: (sender) => inTurns(10, 2, () => post(sender, replayed(1000))),
  },
  {
    name: '300 rules that fire with each of 1,120 events with ids of 128 characters',
    prepare: ({ session, workspace }) => createRules(session, workspace, RULES, EACH_EVENT),
    strike: (sender) => inTurns(4, 1, () => post(sender, longIds(280))),
  },
  {
    name: '4 workspaces of 100 rules about the spend of a day, and 4,100 settlements in each',
    async prepare({ session, workspace, more }) {
      for (let n = 1; n < SPENDERS; n += 1) more.push(await newWorkspace(session));
      for (const each of [workspace, ...more]) await createRules(session, each, RULES_OF_SPENDER, SPEND_OF_A_DAY);
    },
    strike: ({ target, workspace, more }) => {
      const spenders = [workspace, ...more];
      return inTurns(5 * SPENDERS, SPENDERS, (nth) => {
        const settlements = settled(nth < 4 * SPENDERS ? 1000 : 100);
        return post({ target, workspace: spenders[nth % SPENDERS]! }, settlements);
      });
    },
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
  {
    name: '10 agents of 1,000 models with names of 128 characters, then 200 events a second over them',
    prepare: async (sender) => void (await inTurns(10, 2, (batch) => post(sender, wide(1000, batch * 1000)))),
    strike: (sender, others) => steadily(others, 20, (index) => post(sender, wide(10, index * 7919))),
  },
  {
    name: '20,000 agents and as many plans over four days',
    strike: (sender) => inTurns(20, 4, (batch) => post(sender, accounts(1000, batch * 1000))),
  },
  {
    name: '100 batches of 1 MB, events with 60 kB of data',
    async strike(sender) {
      return inTurns(100, 8, () => post(sender, large(16, 60_000)));
    },
  },
];

/** Sends this many requests a second, for {@link HELD_MS} and until `others` is settled. */
async function steadily(
  others: Promise<unknown>,
  perSecond: number,
  ask: (index: number) => Promise<number | 'none'>,
): Promise<Answers> {
  const answers: Answers = new Map();
  let next = 0;
  const asking = atRate(perSecond, async () => count(answers, await ask(next++)));
  await Promise.allSettled([others, delay(HELD_MS)]);
  await asking.stop();
  return answers;
}

async function createRules(
  session: ApiClient,
  workspace: TestWorkspace,
  count: number,
  condition: object,
): Promise<void> {
  await repeat(count, RULES_AT_ONCE, async (index) => {
    const body = {
      name: `Rule ${index}`,
      severity: 'low',
      scope_type: 'workspace',
      scope_id: workspace.id,
      ...condition,
      cooldown_seconds: 2_592_000,
    };
    await session.expect({ method: 'POST', path: workspace.path('/alerts/rules'), body, status: 201 });
  });
}

function replayed(length: number): CloudEvent[] {
  return Array.from({ length }, (_, index) => {
    const event = spendSettled({
      agentId: `agent-${index % 100}`,
      runId: randomUUID(),
      amountMicros: 1,
      time: new Date(Date.now() - (index / length) * 30 * DAY_MS).toISOString(),
    });
    return { ...event, data: { ...event.data, model: `model-${index % 4}` } };
  });
}

function longIds(length: number): CloudEvent[] {
  return Array.from({ length }, () => cloudEvent('load.event', {}, { id: randomUUID().padEnd(128, 'x') }));
}

function settled(length: number): CloudEvent[] {
  return Array.from({ length }, (_, index) => spendSettled({ agentId: `agent-${index % 20}`, amountMicros: 1 }));
}

/** The next of all pairs of agent and model, starting at `first`. */
function wide(length: number, first: number): CloudEvent[] {
  return Array.from({ length }, (_, index) => {
    const nth = (first + index) % (WIDE_AGENTS * WIDE_MODELS);
    const event = spendSettled({ agentId: `agent-${nth % WIDE_AGENTS}`, amountMicros: 1 });
    const model = `model-${Math.floor(nth / WIDE_AGENTS)}-`.padEnd(128, 'x');
    return { ...event, data: { ...event.data, model } };
  });
}

/** A separate agent and plan for each event. */
function accounts(length: number, first: number): CloudEvent[] {
  return Array.from({ length }, (_, index) => {
    const time = new Date(Date.now() - ((first + index) % 4) * DAY_MS).toISOString();
    const event = spendSettled({ agentId: `agent-${first + index}`, amountMicros: 1, time });
    return { ...event, data: { ...event.data, plan_key: `plan-${first + index}` } };
  });
}

/** Every name is different, so each takes memory. */
function unknownFields(length: number, fields: number): object[] {
  const names = Array.from({ length: fields }, (_, field) => field);
  return settled(length).map((event, index) => ({
    ...event,
    data: Object.fromEntries(names.map((field) => [`${index}_${field}`, 0])),
  }));
}

function large(length: number, bytes: number): CloudEvent[] {
  return Array.from({ length }, () => cloudEvent('load.event', { prompt: 'x'.repeat(bytes) }));
}
