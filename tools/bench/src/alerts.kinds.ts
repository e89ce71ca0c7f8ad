import {
  budgetsRequests,
  budgetsService,
  type BudgetsServiceDefinition,
  identityRequests,
  identityService,
  type IdentityServiceDefinition,
} from '@tollkeeper/contracts';
import { grpcService, type UnaryHandlers } from '@tollkeeper/grpc';
import { createLogger } from '@tollkeeper/runtime';
import { markdownTable } from '@tollkeeper/testing/markdown-table';
import { createPeers } from '@tollkeeper/testing/peers';
import { startAlertsStack } from './alerts.stack.ts';
import { runService } from './consumer.runs.ts';
import {
  fillLog,
  generateEvents,
  makeRules,
  ONE_IN,
  RULES_PER_WORKSPACE,
  type RulesOf,
  WORKSPACES,
} from './evaluator.traffic.ts';
import { median, whole } from './statistics.ts';
import type { Run } from './stopwatch.ts';

/** No limit is in danger, so what is measured is the evaluation, not the storing of alerts. */
const LIMIT_MICROS = 1_000_000_000_000;
const SETTLED = { event_types: ['spend.settled'] };

/** The kinds in turn, all over the same settlements. */
const KINDS = {
  usual: [
    { rule_kind: 'event_count_gte', rule_config: { window_seconds: 3600, threshold: 1000, filters: SETTLED } },
    { rule_kind: 'first_occurrence', rule_config: { window_seconds: 3600, filters: SETTLED } },
    { rule_kind: 'spend_gte', rule_config: { window_seconds: 3600, threshold_micros: LIMIT_MICROS } },
  ],
  foreseeing: [
    { rule_kind: 'deviation_gte', rule_config: { times: 1000, min_micros: 1 } },
    { rule_kind: 'burn_rate_gte', rule_config: { fraction: 1, long_seconds: 3600, short_seconds: 300 } },
    { rule_kind: 'forecast_gte', rule_config: { percent: 200 } },
  ],
};

type Kinds = keyof typeof KINDS;

function rulesOf(kinds: Kinds): RulesOf {
  const about = { severity: 'high', scope_type: 'workspace' };
  return (tenantId) =>
    Array.from({ length: RULES_PER_WORKSPACE }, (_, index) => {
      const rule = KINDS[kinds][index % KINDS[kinds].length]!;
      return { ...about, ...rule, name: rule.rule_kind, scope_id: tenantId };
    });
}

function settled(index: number) {
  return { type: 'spend.settled', data: { settlement_id: `stl-${index}`, amount_micros: 1000 + (index % 900) } };
}

/** Stand-ins for identity and budgets: each workspace has a daily budget. */
function createBudgets() {
  const identity: UnaryHandlers<IdentityServiceDefinition> = {
    resolveSession: async () => ({}),
    getWorkspace: async ({ tenantId }) => ({ workspace: { id: tenantId, timezone: 'Europe/Paris' } }),
    getAgents: async () => ({ agents: [] }),
    registerAgents: async () => ({}),
  };
  const budgets: UnaryHandlers<BudgetsServiceDefinition> = {
    getBudgets: async () => ({}),
    listPrices: async () => ({}),
    requestRaise: async () => ({}),
    listGrantedRaises: async () => ({}),
    listBudgets: async () => ({ dailyBudgetUsdMicros: LIMIT_MICROS }),
    listActiveBudgets: async () => ({ budgets: [] }),
  };
  return createPeers(createLogger({ service: 'bench', level: 'warn' }), [
    grpcService(identityService, identityRequests, identity),
    grpcService(budgetsService, budgetsRequests, budgets),
  ]);
}

/** Rounds in which a service with rules of the usual kinds and one with the others read the same log in turn. */
export async function compareKinds({ eventCount, rounds }: { eventCount: number; rounds: number }): Promise<string> {
  const peers = createBudgets();
  await peers.start();
  const stack = await startAlertsStack({ peers });
  const runs: Record<Kinds, Run[]> = { usual: [], foreseeing: [] };
  const kinds = Object.keys(runs) as Kinds[];
  try {
    const names = Array.from({ length: rounds }, (_, round) =>
      kinds.map((each) => [each, `${each}_${round}`] as const),
    );
    // Rules before the log, because a rule counts only events received after its creation.
    for (const [each, name] of names.flat()) await makeRules(stack, name, rulesOf(each));
    await fillLog(stack.eventLog, generateEvents(eventCount, Date.now(), { matching: settled }));
    for (const [each, name] of names.flat()) {
      const { service, ...run } = await runService(stack.eventLog, (log) => stack.createAlerts(name, log), eventCount);
      await service.stop();
      runs[each].push(run);
      console.error(`${name}: ${whole(run.eventsPerSecond)} events/s`);
    }
  } finally {
    await stack.stop();
    await peers.stop();
  }
  return describe(runs, eventCount);
}

function describe({ usual, foreseeing }: Record<Kinds, Run[]>, eventCount: number): string {
  const rateOf = (runs: Run[]) => whole(median(runs.map(({ eventsPerSecond }) => eventsPerSecond)));
  const cpuOf = (runs: Run[]) => median(runs.map(({ cpuMicros }) => cpuMicros)).toFixed(2);
  const ratios = foreseeing.map(({ eventsPerSecond }, round) => eventsPerSecond / usual[round]!.eventsPerSecond);
  const namesOf = (kinds: Kinds) => KINDS[kinds].map(({ rule_kind }) => rule_kind).join(', ');
  const rules = whole(WORKSPACES * RULES_PER_WORKSPACE);
  return [
    `- ${rules} rules in ${WORKSPACES} workspaces, a third of each kind; ${whole(eventCount)} events in the log before the start, ` +
      `every ${ONE_IN}th matches all ${RULES_PER_WORKSPACE} rules of its workspace; one process`,
    `- medians of ${usual.length} rounds, in which the two services read the log in turn\n`,
    markdownTable(
      ['kinds of rules', 'events/s', 'CPU µs/event', 'in comparison'],
      [
        [namesOf('usual'), rateOf(usual), cpuOf(usual), ''],
        [namesOf('foreseeing'), rateOf(foreseeing), cpuOf(foreseeing), `${Math.round(median(ratios) * 100)} %`],
      ],
    ),
    '\nGoal: at least 80 % of the rate of the usual kinds.',
  ].join('\n');
}
