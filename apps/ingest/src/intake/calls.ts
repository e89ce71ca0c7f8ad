import {
  countBlocks,
  countCalls,
  createSpanTree,
  eachInSlices,
  FACT_TABLE,
  factsOf,
  type FactTable,
  type FoundFacts,
  type IntakeRecord,
  type NamedFact,
  namedFactsOf,
  notACallBecause,
  originOf,
  type OriginOptions,
  type SpanTree,
  toIdentifier,
} from '@tollkeeper/call-facts';
import type { CallFlag } from '@tollkeeper/contracts';
import type { CallOutcome, CallRecord, GuardBlock, Reading } from './call-record.ts';
import { type Candidate, candidateOf, findRepetition, isInUsd } from './call-tree.ts';
import { guardsThatBlocked } from './guard-blocks.ts';
import { digest, identityOf } from './identity.ts';
import { createNotices, type Notices } from './notices.ts';

export interface ReadingOptions extends OriginOptions {
  /** By which facts are read; by default that of a key that maps nothing. */
  table?: FactTable;
  /** Names of guards that are Tollkeeper's own: it knows what they deny. */
  ownGuards?: readonly string[];
  /** Number of calls whose facts are answered as well, with the names that they came from; none by default. */
  explained?: number;
  signal?: AbortSignal | undefined;
}

/** Limits do not count older calls. */
const LATE_MS = 3 * 24 * 60 * 60 * 1000;
const OWN_GUARDS = ['tollkeeper'];
const USUAL_TIERS = ['default', 'standard'];
const CLIENT_GONE = 'DC';
/** A probability of 1, in OpenTelemetry's `tracestate`. */
const UNSAMPLED = 'th:0';

/**
 * The calls among the records of one body, in order. Of calls inside each other that repeat the same usage, the inner
 * one counts, with the cost of the outer one if it has none. Rejects with `payload_too_large` over 10,000 calls or
 * blocks, and with the reason of `signal`.
 */
export async function readCalls(records: readonly IntakeRecord[], options: ReadingOptions): Promise<Reading> {
  const { table = FACT_TABLE, ownGuards = OWN_GUARDS, explained = 0, signal } = options;
  const tree = createSpanTree();
  const countedCalls = countCalls();
  const countedBlocks = countBlocks();
  const candidates = new Map<IntakeRecord, Candidate>();
  const notCalls = new Map<string, number>();
  const noteNoCall = (reason: string) => notCalls.set(reason, (notCalls.get(reason) ?? 0) + 1);
  const sortOut = (record: IntakeRecord): void => {
    tree.add(record);
    const reason = notACallBecause(record);
    if (reason !== undefined) return void noteNoCall(reason);
    countedCalls.add(record.kind);
    candidates.set(record, candidateOf(record, factsOf(record, tree, table)));
  };
  await eachInSlices(records, sortOut, signal);
  const { repeated, costs } = await findRepetition(candidates, tree, signal);
  const calls: CallRecord[] = [];
  const facts: NamedFact[][] = [];
  const blocks: GuardBlock[] = [];
  const notices = createNotices();
  let invalidPlans = 0;
  const take = (record: IntakeRecord): void => {
    const candidate = candidates.get(record);
    const isCall = candidate !== undefined && !repeated.has(record);
    const found = candidate?.facts ?? factsOf(record, tree, table);
    const guards = guardsThatBlocked(found, { isCall });
    if (isCall) {
      const isDenied = guards.some((guard) => ownGuards.includes(guard));
      const priced = { ...candidate, cost: candidate.cost ?? costs.get(record) };
      const call = callOf(priced, { ...options, isDenied }, notices);
      calls.push(call);
      if (call.planKey === undefined && candidate.facts.value('plan') !== undefined) invalidPlans += 1;
      if (facts.length < explained) facts.push(explain(record, tree, table, options));
    } else if (candidate !== undefined) noteNoCall('a call inside it has its usage');
    for (const guard of guards) {
      if (ownGuards.includes(guard)) continue;
      countedBlocks.add(record.kind);
      const call = callAround(record, candidates, tree.ancestors(record));
      blocks.push(blockOf(guard, call ?? { record, facts: found }, options));
    }
  };
  await eachInSlices(records, take, signal);
  return { calls, facts, blocks, notCalls, invalidPlans, notices: notices.sentences() };
}

/** The facts of a call by their names. The agent that the request names wins, whatever its attributes say. */
function explain(record: IntakeRecord, tree: SpanTree, table: FactTable, { agent }: OriginOptions): NamedFact[] {
  const facts = [...namedFactsOf(record, tree, table)];
  if (agent === undefined) return facts;
  const named = { fact: 'agent', name: 'header X-Tollkeeper-Agent', value: agent };
  return [...facts.filter(({ fact }) => fact !== named.fact), named];
}

function callOf(
  { record, facts, usage, cost }: Candidate,
  options: ReadingOptions & { isDenied: boolean },
  notices: Notices,
): CallRecord {
  const identity = identityOf(record, facts);
  const origin = originOf(record, facts, { ...options, callId: identity.settlementId });
  if (!isInUsd(facts)) notices.foreign();
  const isLate = origin.timeMs < options.receivedMs - LATE_MS;
  if (isLate) notices.late();
  const tier = facts.value('serviceTier');
  const flags: Record<CallFlag, boolean> = {
    usage_inferred: usage?.inferred ?? false,
    sampled: isSampled(record, facts),
    late: isLate,
  };
  return {
    ...identity,
    ...origin,
    responseModel: facts.value('responseModel'),
    requestModel: facts.value('requestModel'),
    tokens: usage?.tokens,
    serviceTier: tier === undefined || USUAL_TIERS.includes(tier) ? undefined : tier,
    cost,
    flags: (Object.keys(flags) as CallFlag[]).filter((flag) => flags[flag]),
    outcome: usage !== undefined || cost !== undefined ? 'spent' : outcomeWithoutUsage(record, facts, options),
  };
}

function outcomeWithoutUsage(
  record: IntakeRecord,
  facts: FoundFacts,
  { isDenied }: { isDenied: boolean },
): Exclude<CallOutcome, 'spent'> {
  if (isDenied) return 'denied';
  const hasFailed =
    record.failed ||
    facts.value('errorType') !== undefined ||
    (facts.value('httpStatus')?.value ?? 0) >= 400 ||
    facts.value('callStatus') === 'failure';
  if (hasFailed) return 'failed';
  return facts.value('responseFlags')?.split(',').includes(CLIENT_GONE) ? 'client_gone' : 'no_usage';
}

/** Whether the sender reports only a part of its calls: its figures are incomplete, and are not scaled. */
function isSampled({ traceState }: IntakeRecord, facts: FoundFacts): boolean {
  const ofOpenTelemetry = traceState.split(',').find((entry) => entry.trim().startsWith('ot='));
  const threshold = ofOpenTelemetry
    ?.trim()
    .slice('ot='.length)
    .split(';')
    .find((field) => field.startsWith('th:'));
  return (threshold !== undefined && threshold !== UNSAMPLED) || facts.value('samplingProbability') === true;
}

/** A guard has a span of its own, inside that of the call. */
function callAround(
  record: IntakeRecord,
  candidates: ReadonlyMap<IntakeRecord, Candidate>,
  ancestors: Iterable<IntakeRecord>,
): Candidate | undefined {
  for (const each of [record, ...ancestors]) {
    const candidate = candidates.get(each);
    if (candidate !== undefined) return candidate;
  }
  return undefined;
}

function blockOf(
  guard: string,
  { record, facts }: Pick<Candidate, 'record' | 'facts'>,
  options: ReadingOptions,
): GuardBlock {
  const { settlementId } = identityOf(record, facts);
  const callId = facts.value('callId') ?? settlementId;
  return {
    id: `guard:${digest([callId, guard])}`,
    guard: toIdentifier(guard),
    ...originOf(record, facts, { ...options, callId: settlementId }),
  };
}
