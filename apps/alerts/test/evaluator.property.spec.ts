import { randomInt } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { type Labels, SCOPE_TYPES, type ScopeType } from '@tollkeeper/contracts';
import { provenTenantId } from '@tollkeeper/kernel';
import fc from 'fast-check';
import { toAlert } from '../src/domain/alert.ts';
import type { CountableEvent } from '../src/domain/event.ts';
import type { Decision } from '../src/domain/evaluator.ts';
import type { SavedWindow } from '../src/domain/partition.evaluator.ts';
import { createRuleBook } from '../src/domain/rule-book.ts';
import { conditionOf } from '../src/domain/rule-kinds.ts';
import type { Rule } from '../src/domain/rule.ts';
import { openEvaluator, storedCopies } from './fixtures.ts';
import { decideByBruteForce, type ReferenceDecision } from './reference.ts';

/** Raise it after a change of the evaluator: CASES=3000 npx nx test @tollkeeper/alerts evaluator.property */
const CASES = Number(process.env['CASES'] ?? 200);
const SEED = 20_261_128;
const START = Date.parse('2026-11-21T18:00:00.000Z');
const TENANTS = [provenTenantId('ws_a'), provenTenantId('ws_b')] as const;
const THRESHOLD_REACHED = 'budget.threshold_reached';
const TYPES = ['budget.blocked', 'budget.blocked', 'tool.failed', 'tool.failed', THRESHOLD_REACHED];
/** The kinds with a window up to the newest event. */
const KINDS = ['event_count_gte', 'first_occurrence', 'spend_gte'] as const;
/** What rules filter by, and what events have; `constructor` is a name like any other. */
const PATTERNS: Labels[] = [{ team: 'growth' }, { team: 'gr*', env: 'prod' }, { env: '*' }, { constructor: '*' }];
const LABELS: Labels[] = [
  ...[{}, { team: 'growth' }, { team: 'grid', env: 'prod' }, { team: 'growth', env: 'prod' }],
  ...[
    { team: 'sales', env: 'dev' },
    { env: 'prod', constructor: 'x' },
  ],
];
const AGENTS = ['agent-1', 'agent-2', undefined];

interface Scenario {
  rules: Rule[];
  arrivals: CountableEvent[];
  /** After this many arrivals, the rule gets these values and its next revision. */
  edits: { after: number; rule: number; threshold: number; thresholdMicros: number; enabled: boolean }[];
  /** After this many reads, possibly in mid-batch, memory is lost. */
  crashes: number[];
  batchSizes: number[];
  commits: boolean[];
  /** Per commit: whether the windows of a workspace are forgotten and read again. */
  forgets: boolean[];
}

type Filters = Pick<Rule, 'eventTypes' | 'percents'>;

const ofTypes: Filters[] = [[], ['budget.blocked'], ['budget.blocked', 'tool.failed']].map((eventTypes) => {
  return { eventTypes, percents: [] };
});
const ofPercents: Filters[] = [[], [80], [100, 50]].map((percents) => ({ eventTypes: [THRESHOLD_REACHED], percents }));

const SCOPE_ID: Record<ScopeType, (tenantId: string) => string> = {
  tenant: (tenantId) => tenantId,
  workspace: (tenantId) => tenantId,
  agent: () => 'agent-1',
};

const ruleArbitrary = fc.record({
  tenant: fc.integer({ min: 0, max: 1 }),
  kind: fc.constantFrom(...KINDS),
  windowSeconds: fc.constantFrom(1, 2, 5, 30, 120, 400, 900),
  threshold: fc.constantFrom(1, 2, 3, 5, 13, 20),
  thresholdMicros: fc.constantFrom(1, 3, 10, 25, 60),
  cooldownSeconds: fc.constantFrom(0, 0, 1, 10, 60, 600),
  scopeType: fc.constantFrom(...SCOPE_TYPES),
  effectiveAfterMs: fc.constantFrom(0, 0, 0, 1000, 2000),
  labels: fc.oneof(
    { weight: 4, arbitrary: fc.constant<Labels>({}) },
    { weight: 1, arbitrary: fc.constantFrom(...PATTERNS) },
  ),
  filters: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...ofTypes) },
    { weight: 1, arbitrary: fc.constantFrom(...ofPercents) },
  ),
});

/** Rules about the spend of one window: they share entries, unless they filter by labels that differ. */
const sharingArbitrary = fc.constantFrom(30, 120, 900).chain((windowSeconds) =>
  fc.array(
    ruleArbitrary.map((rule): typeof rule => ({
      ...{ ...rule, tenant: 0, kind: 'spend_gte', windowSeconds, filters: ofTypes[0]! },
    })),
    { minLength: 2, maxLength: 4 },
  ),
);

const eventArbitrary = fc.record({
  tenant: fc.constantFrom(0, 0, 0, 1),
  type: fc.constantFrom(...TYPES),
  agent: fc.constantFrom(...AGENTS),
  labels: fc.constantFrom(...LABELS),
  percent: fc.constantFrom(undefined, 50, 80, 80, 100),
  settledMicros: fc.constantFrom(0, 1, 2, 5, 5, 11, 70),
  count: fc.constantFrom(1, 1, 1, 1, 2, 9),
  /** Time between two arrivals; coarse, so that some event times are equal and lie on the edges of windows. */
  passedMs: fc.constantFrom(0, 0, 500, 1000, 1000, 5000, 60_000),
  /** How far the clock of its receiver is behind. */
  disorderMs: fc.constantFrom(0, 0, 0, 0, 1, 1500),
  /** How far the event's time is behind its arrival; negative if ahead; over 5 min is late. */
  behindMs: fc.constantFrom(0, 0, 0, 0, 500, 1000, 2500, 30_000, 299_500, 300_000, 300_500, 400_000, -1000, -300_000),
  /** Another arrival of the event this many places before. */
  duplicateOf: fc.option(fc.integer({ min: 1, max: 40 }), { freq: 4 }),
});

/** Many events of one minute, newest first, so that each is the first of its window. */
const burstArbitrary = fc
  .record({
    size: fc.integer({ min: 64, max: 85 }),
    stepMs: fc.constantFrom(1, 1, 500),
    ageMs: fc.constantFrom(0, 90_000),
  })
  .map(({ size, stepMs, ageMs }) =>
    Array.from({ length: size }, (_, index) => ({
      ...{
        tenant: 0,
        type: TYPES[0]!,
        agent: AGENTS[0],
        labels: { team: 'growth', env: 'prod', constructor: 'x' },
        percent: undefined,
        settledMicros: 1 + (index % 3),
        count: 1,
        passedMs: 0,
        disorderMs: 0,
        behindMs: ageMs + index * stepMs,
      },
      duplicateOf: index % 20 === 19 ? 2 : null,
    })),
  );

const scenarioArbitrary = fc
  .record({
    rules: fc.oneof(
      { weight: 2, arbitrary: fc.array(ruleArbitrary, { minLength: 1, maxLength: 4 }) },
      { weight: 1, arbitrary: sharingArbitrary },
    ),
    events: fc.array(eventArbitrary, { minLength: 1, maxLength: 90, size: 'max' }),
    burst: fc.option(fc.record({ after: fc.nat(40), events: burstArbitrary }), { freq: 8 }),
    edits: fc.array(
      fc.record({
        after: fc.nat(90),
        rule: fc.nat(3),
        threshold: fc.constantFrom(1, 2, 4),
        thresholdMicros: fc.constantFrom(1, 7, 20),
        enabled: fc.boolean(),
      }),
      { maxLength: 2 },
    ),
    crashes: fc.array(fc.nat(150), { maxLength: 4, size: 'max' }),
    batchSizes: fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 5 }),
    commits: fc.array(fc.boolean(), { minLength: 1, maxLength: 5 }),
    forgets: fc.array(fc.boolean(), { minLength: 1, maxLength: 5 }),
  })
  .map(({ rules, events, burst, edits, ...rest }): Scenario => {
    const after = burst?.after ?? 0;
    const arrivals = toArrivals([...events.slice(0, after), ...(burst?.events ?? []), ...events.slice(after)]);
    return { rules: rules.map(toRule), arrivals, edits: edits.filter((edit) => edit.rule < rules.length), ...rest };
  });

/** An event as generated or from a burst, before its times are computed. */
interface GeneratedEvent extends Omit<
  Generated<typeof eventArbitrary>,
  'passedMs' | 'disorderMs' | 'behindMs' | 'tenant' | 'settledMicros' | 'count'
> {
  count: number;
  tenant: number;
  settledMicros: number;
  passedMs: number;
  disorderMs: number;
  behindMs: number;
}

type Generated<A> = A extends fc.Arbitrary<infer T> ? T : never;

function toRule(generated: Generated<typeof ruleArbitrary>, index: number): Rule {
  const tenantId = TENANTS[generated.tenant]!;
  return {
    id: `rule_${index}`,
    tenantId,
    name: 'A rule',
    description: '',
    enabled: true,
    severity: 'high',
    scopeType: generated.scopeType,
    scopeId: SCOPE_ID[generated.scopeType](tenantId),
    condition: conditionOf(generated.kind, generated),
    windowSeconds: generated.windowSeconds,
    ...generated.filters,
    labels: generated.labels,
    cooldownSeconds: generated.cooldownSeconds,
    channelIds: [],
    routes: [],
    groupSeconds: 0,
    createdAt: new Date(START),
    updatedAt: new Date(START),
    lastFiredAt: null,
    revision: 1,
    effectiveAt: new Date(START + generated.effectiveAfterMs),
  };
}

function toArrivals(events: GeneratedEvent[]): CountableEvent[] {
  const arrivals: CountableEvent[] = [];
  let now = START;
  for (const [
    index,
    { tenant, type, agent, labels, percent, settledMicros, count, passedMs, disorderMs, behindMs, duplicateOf },
  ] of events.entries()) {
    now += passedMs;
    const receivedAt = now - disorderMs;
    const original = duplicateOf === null ? undefined : arrivals[index - duplicateOf];
    const fresh = {
      tenantId: TENANTS[tenant]!,
      id: `e${index}`,
      type,
      agentId: agent,
      labels,
      settledMicros,
      count,
      percent: type === THRESHOLD_REACHED ? percent : undefined,
      budget: undefined,
      call: undefined,
      time: now - behindMs,
    };
    // Identities are not in the order of arrival, so ties are not broken by arrival.
    const identity = (index * 7919) % 1009;
    arrivals.push(original ? { ...original, receivedAt } : { ...fresh, identity, receivedAt });
  }
  return arrivals;
}

/**
 * The rules in force at each arrival. An edit takes effect after everything that arrived before it was received. By a
 * clock that is behind, events of before the edit would be of after it, and count for either revision.
 */
function historyOf({ rules, edits, arrivals }: Scenario): (arrival: number) => Rule[] {
  const snapshots = [rules];
  let receivedUntil = -Infinity;
  for (let arrival = 1; arrival <= arrivals.length; arrival += 1) {
    let now = snapshots[arrival - 1]!;
    receivedUntil = Math.max(receivedUntil, arrivals[arrival - 1]!.receivedAt);
    for (const edit of edits) {
      if (edit.after === arrival)
        now = now.map((rule, index) => (index === edit.rule ? edited(rule, edit, receivedUntil) : rule));
    }
    snapshots.push(now);
  }
  return (arrival) => snapshots[arrival]!;
}

function edited(rule: Rule, edit: Scenario['edits'][number], receivedUntil: number): Rule {
  // A millisecond later, so that events received before and after the edit differ.
  const effectiveAt = new Date(receivedUntil + 1);
  const condition = conditionOf(rule.condition.kind, edit);
  return { ...rule, condition, enabled: edit.enabled, revision: rule.revision + 1, effectiveAt };
}

/** Runs the evaluator as the service does: batches, commits now and then and after every decision, and crashes. */
function decideWithRestarts(scenario: Scenario, rulesAt: (arrival: number) => Rule[]): ReferenceDecision[] {
  const { arrivals, batchSizes, commits, crashes, forgets } = scenario;
  const store = {
    offset: 0,
    windows: new Map<string, SavedWindow>(),
    decisions: new Map<string, ReferenceDecision>(),
    alerts: new Set<string>(),
  };
  const crashesLeft = new Set(crashes);
  let reads = 0;
  let batch = 0;

  const bookAt = (arrival: number) => {
    const book = createRuleBook();
    refresh(book, arrival);
    return book;
  };
  const refresh = (book: ReturnType<typeof createRuleBook>, arrival: number) => {
    for (const tenantId of TENANTS) {
      book.replace(
        tenantId,
        rulesAt(arrival).filter((rule) => rule.tenantId === tenantId),
      );
    }
  };

  let newestRead = 0;
  run: while (store.offset < arrivals.length) {
    // After a restart, the rules are current, although reading starts before the last edits.
    const book = bookAt(newestRead);
    const evaluator = openEvaluator(book, [...store.windows.values()], TENANTS);
    let offset = store.offset;
    let pending: Decision[] = [];
    while (offset < arrivals.length) {
      // A batch ends where a rule is edited, since the service checks for edits before each batch.
      const end = endOfBatch(offset, batchSizes[batch % batchSizes.length]!);
      refresh(book, Math.max(offset, newestRead));
      for (; offset < end; offset += 1) {
        reads += 1;
        if (crashesLeft.delete(reads)) continue run;
        const event = arrivals[offset]!;
        // Events of types that no rule counts are skipped.
        if (!book.countsType(event.type) || !book.counts(event.tenantId, event.type)) continue;
        pending.push(...evaluator.evaluate(event));
      }
      newestRead = Math.max(newestRead, offset);
      batch += 1;
      if (pending.length === 0 && !commits[batch % commits.length] && offset < arrivals.length) continue;
      for (const window of storedCopies(evaluator.changed())) store.windows.set(window.ruleId, window);
      for (const decision of pending) {
        const place = `${decision.rule.id}/${decision.number}`;
        const before = store.decisions.get(place);
        if (before !== undefined && before.count + 1 !== decision.count) throw new Error('a place was taken twice');
        store.decisions.set(place, toReferenceDecision(decision));
        if (decision.outcome === 'suppressed') continue;
        const { id } = toAlert(decision);
        if (store.alerts.has(id)) throw new Error('an alert was made twice');
        store.alerts.add(id);
      }
      evaluator.saved();
      for (const [index, tenantId] of TENANTS.entries()) {
        if (!forgets[(batch + index) % forgets.length]!) continue;
        evaluator.close(tenantId);
        evaluator.open(tenantId);
        for (const window of store.windows.values()) if (window.tenantId === tenantId) evaluator.add(window);
      }
      pending = [];
      store.offset = offset;
    }
  }
  return [...store.decisions.values()];

  function endOfBatch(from: number, size: number): number {
    let end = from + 1;
    while (end < Math.min(from + size, arrivals.length) && rulesAt(end) === rulesAt(end - 1)) end += 1;
    return end;
  }
}

/** Rules are independent: the decisions of one rule have an order, those of several rules about one event have none. */
function byRule(decisions: ReferenceDecision[]): ReferenceDecision[] {
  return decisions.toSorted((a, b) => a.rule.localeCompare(b.rule));
}

function toReferenceDecision({ rule, event, reason, count, evidence }: Decision): ReferenceDecision {
  const { eventCount, settledMicros, firstEventAt, lastEventAt, sampleEventIds: samples } = evidence;
  const facts = { eventCount, settledMicros, firstEventAt, lastEventAt, samples };
  return { rule: rule.id, revision: rule.revision, event: event.id, time: event.time, reason, count, ...facts };
}

/** Compares the decisions with brute force for many histories. Returns how often each reason occurred. */
function expectDecisions(seed: number): Record<ReferenceDecision['reason'], number> {
  const decided = {
    condition_became_true: 0,
    condition_still_true_after_cooldown: 0,
    cooldown: 0,
    rate_limited: 0,
    learning: 0,
  };
  fc.assert(
    fc.property(scenarioArbitrary, (scenario) => {
      const rulesAt = historyOf(scenario);
      const expected = decideByBruteForce(scenario.arrivals, rulesAt);
      expect(byRule(decideWithRestarts(scenario, rulesAt))).toEqual(byRule(expected));
      for (const { reason } of expected) decided[reason] += 1;
    }),
    { seed, numRuns: CASES },
  );
  return decided;
}

describe(`the evaluator, in ${CASES} histories with duplicates, late events, edits and restarts,`, () => {
  it(`decides what brute force decides: seed ${SEED}`, () => {
    // The histories only prove something if they lead to many decisions of every kind.
    const { rate_limited: limited, ...decided } = expectDecisions(SEED);
    for (const reason of ['condition_became_true', 'condition_still_true_after_cooldown', 'cooldown'] as const) {
      expect(decided[reason]).toBeGreaterThan(CASES / 5);
    }
    expect(limited).toBeGreaterThan(CASES / 50);
  });

  const randomSeed = randomInt(2 ** 31);
  it(`decides what brute force decides: random seed ${randomSeed}`, () => {
    expect(expectDecisions(randomSeed).condition_became_true).toBeGreaterThan(CASES / 5);
  });
});
