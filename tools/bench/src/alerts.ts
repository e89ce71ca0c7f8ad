import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { markdownTable } from '@tollkeeper/testing/markdown-table';
import { compareKinds } from './alerts.kinds.ts';
import { type AlertsStack, startAlertsStack } from './alerts.stack.ts';
import { runBareConsumer, runService } from './consumer.runs.ts';
import { rateOfCountQueries } from './count-queries.ts';
import { measureDeliveries } from './delivery.latency.ts';
import {
  fillLog,
  generateEvents,
  makeRules,
  MATCHING_TYPE,
  ONE_IN,
  RULES_PER_WORKSPACE,
  sameRules,
  WORKSPACES,
} from './evaluator.traffic.ts';
import { describeMachine } from './machine.ts';
import type { RuleSettings } from './rule.settings.ts';
import { median, percentile, whole } from './statistics.ts';
import type { Run } from './stopwatch.ts';

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '1000000' },
    queried: { type: 'string', default: '5000' },
    threshold: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '5' },
    'skip-deliveries': { type: 'boolean', default: false },
    /** Only compares the kinds of rules that compare spend with the past or with a budget with the others. */
    kinds: { type: 'boolean', default: false },
  },
});
const eventCount = Number(values.events);
const queriedCount = Math.min(Number(values.queried), eventCount);
const rounds = Number(values.rounds);
const rule: RuleSettings = { eventType: MATCHING_TYPE, threshold: Number(values.threshold), windowSeconds: 3_600 };

interface Measured {
  bare: Run[];
  evaluator: Run[];
  /** Heap and windows after an evaluator's run, minus those before. */
  heldBytes: number[];
}

if (values.kinds) {
  console.log(`## Kinds of alert rules\n\n${describeMachine()}`);
  console.log(await compareKinds({ eventCount, rounds }));
  process.exit();
}

const stack = await startAlertsStack();
try {
  console.log(`## Alerts\n\n${describeMachine()}`);
  const measured = await measure(stack);
  const rules = Array.from({ length: RULES_PER_WORKSPACE }, () => rule);
  const events = generateEvents(queriedCount, Date.now());
  report(measured, await rateOfCountQueries({ mongodbUri: stack.mongodbUri, events, rules }));
} finally {
  await stack.stop();
}
if (!values['skip-deliveries']) await reportDeliveries();

/** Rounds in which each evaluator in turn reads the same log from its start. */
async function measure(stack: AlertsStack): Promise<Measured> {
  const names = Array.from({ length: rounds }, (_, round) => `alerts_${round}`);
  // Rules before the log, because a rule counts only events received after its creation.
  for (const name of names) await makeRules(stack, name, sameRules(rule));
  await fillLog(stack.eventLog, generateEvents(eventCount, Date.now()));

  const measured: Measured = { bare: [], evaluator: [], heldBytes: [] };
  for (const [round, name] of names.entries()) {
    const bare = await runBareConsumer(stack.eventLog, eventCount);
    const heldBefore = await heldBytes();
    const { service, ...evaluator } = await runService(
      stack.eventLog,
      (log) => stack.createAlerts(name, log),
      eventCount,
    );
    measured.heldBytes.push((await heldBytes()) - heldBefore);
    await service.stop();
    measured.bare.push(bare);
    measured.evaluator.push(evaluator);
    const rates = [bare, evaluator].map(({ eventsPerSecond }) => whole(eventsPerSecond));
    console.error(`round ${round + 1} of ${rounds}: ${rates.join(' / ')} events/s`);
  }
  return measured;
}

/** Bytes of the heap and of array buffers in use, after work in flight has finished. */
async function heldBytes(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  for (let round = 0; round < 5; round += 1) {
    collectGarbage();
    await delay(200);
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

function report({ bare, evaluator, heldBytes: held }: Measured, queried: number): void {
  const rules = WORKSPACES * RULES_PER_WORKSPACE;
  console.log(
    `- ${whole(rules)} rules (threshold ${whole(rule.threshold)}) in ${WORKSPACES} workspaces; ${whole(eventCount)} events in the log before ` +
      `the start, every ${ONE_IN}th matches all ${RULES_PER_WORKSPACE} rules of its workspace; one process`,
  );
  console.log(`- medians of ${rounds} rounds, in which the two consumers read the log in turn`);
  console.log(`- the count queries ran over ${whole(queriedCount)} events, once`);
  console.log(`- held in memory after a run, above what was held before: ${(median(held) / 2 ** 20).toFixed(1)} MiB\n`);
  const rateOf = (runs: Run[]) => median(runs.map(({ eventsPerSecond }) => eventsPerSecond));
  const cpuOf = (runs: Run[]) => median(runs.map(({ cpuMicros }) => cpuMicros)).toFixed(2);
  const ratios = evaluator.map(({ eventsPerSecond }, round) => eventsPerSecond / bare[round]!.eventsPerSecond);
  console.log(
    markdownTable(
      ['', 'events/s', 'CPU µs/event', 'evaluator in comparison'],
      [
        ['evaluator: decode, evaluate, store', whole(rateOf(evaluator)), cpuOf(evaluator), ''],
        ['bare consumer that parses', whole(rateOf(bare)), cpuOf(bare), `${Math.round(median(ratios) * 100)} %`],
        ['a count query per event and rule', whole(queried), '', `${whole(rateOf(evaluator) / queried)}×`],
      ],
    ),
  );
  console.log('\nGoals: at least 50 % of the bare consumer, at least 100 times the count queries.');
}

async function reportDeliveries(): Promise<void> {
  const { milliseconds, missing, backgroundPerSecond } = await measureDeliveries();
  console.log(
    `\nEvent accepted (202) → webhook received, standalone, https on loopback, ${backgroundPerSecond} events/s in the background, ` +
      `${milliseconds.length} alerts one by one, ${missing} missing:\n`,
  );
  const [p50, p99] = [percentile(milliseconds, 50), percentile(milliseconds, 99)];
  console.log(markdownTable(['p50 ms', 'p99 ms'], [[whole(p50), whole(p99)]]));
  console.log('\nGoal: p99 below 1,000 ms.');
}
