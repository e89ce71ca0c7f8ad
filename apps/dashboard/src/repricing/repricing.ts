import { hash } from 'node:crypto';
import type { Cause, GatewayEventRecord, SpendRepricedEvent } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';
import { amountOf, type PriceSources, type TokenAmount, type TokenKinds } from '@tollkeeper/prices';
import { NOBODY, SPEND_REPRICED, type DashboardEvent, type EventData } from '../domain/event.ts';

/** Which calls to price again. */
interface RepricingTerms {
  /** Times of calls, epoch milliseconds, without the end. */
  from: number;
  to: number;
  /** Only calls of these models, by the names under which they count; null for all. */
  models: readonly string[] | null;
  /** Says what would change, and changes nothing. */
  dryRun: boolean;
}

/** Who says what a call cost so that its price can change. What a sender or a reservation says stays. */
const PRICED_BY_TOKENS: ReadonlySet<string | undefined> = new Set(['override', 'table', NOBODY]);

/** A settlement whose amount changes. */
export interface Change {
  settlement: DashboardEvent;
  amount: TokenAmount;
}

/** What the settlement would cost by these prices; undefined if that is no change, or no price is known. */
export function changeOf(settlement: DashboardEvent, sources: PriceSources): Change | undefined {
  const { data, time } = settlement;
  const tokens = PRICED_BY_TOKENS.has(data.priced_by) ? tokensOf(data) : undefined;
  if (tokens === undefined) return undefined;
  const { response_model, request_model, model, provider, service_tier } = data;
  const amount = amountOf(
    {
      responseModel: response_model ?? (request_model === undefined ? model : undefined),
      requestModel: request_model,
      provider,
      serviceTier: service_tier,
      timeMs: time,
      tokens,
    },
    sources,
  );
  if (amount === undefined) return undefined;
  return amount.micros === data.amount_micros && data.priced_by !== NOBODY ? undefined : { settlement, amount };
}

/** Undefined if the settlement has none. */
function tokensOf(data: EventData): TokenKinds | undefined {
  const { input_tokens, output_tokens, cache_read_tokens = 0, reasoning_tokens = 0 } = data;
  const { cache_write_tokens = 0, cache_write_1h_tokens = 0 } = data;
  if (input_tokens === undefined && output_tokens === undefined) return undefined;
  const cached = cache_read_tokens + cache_write_tokens + cache_write_1h_tokens;
  return {
    input: Math.max(0, (input_tokens ?? 0) - cached),
    cacheRead: cache_read_tokens,
    cacheWrite: cache_write_tokens,
    cacheWrite1h: cache_write_1h_tokens,
    output: output_tokens ?? 0,
    reasoning: reasoning_tokens,
  };
}

const SOURCE = 'tollkeeper/dashboard';

/**
 * The event that corrects a settlement. A job corrects each settlement once: the event has the same id when the job
 * does a page again.
 */
export function correctionOf(
  { settlement, amount }: Change,
  job: { id: string; correctedAt: number },
): Omit<GatewayEventRecord, 'receivedAt'> {
  const { tenantId, time, data } = settlement;
  const { settlement_id = '', run_id = '', agent_id = '', plan_key, model, provider, labels, tracked, key_id } = data;
  const event: SpendRepricedEvent = {
    specversion: '1.0',
    // Begins with the time, because keys that grow take a fifth of the work in the index of chunks.
    id: `rpr_${time.toString(36)}_${digestOf(job.id, settlement_id)}`,
    source: SOURCE,
    type: SPEND_REPRICED,
    time: new Date(time).toISOString(),
    data: {
      ...{ settlement_id, run_id, agent_id, plan_key, model, provider, labels, tracked },
      from_micros: data.amount_micros ?? 0,
      to_micros: amount.micros,
      from_priced_by: data.priced_by ?? NOBODY,
      priced_by: amount.pricedBy,
      price_id: amount.priceId,
      ...(amount.pricedBy === 'table' && { price_version: amount.priceVersion }),
      corrected_at: new Date(job.correctedAt).toISOString(),
    },
  };
  return { tenantId, keyId: key_id, event };
}

function digestOf(...words: string[]): string {
  return hash('sha256', JSON.stringify(words)).slice(0, 32);
}

/** Settlements, and what they count, in USD micros. */
export interface ChangedSums {
  calls: number;
  fromMicros: number;
  toMicros: number;
}

/** By what the changes are listed. */
export const CHANGE_GROUPS = ['day', 'model', 'agent', 'budget'] as const;
export type ChangeGroup = (typeof CHANGE_GROUPS)[number];

/** What a job changes so far. */
export interface RepricingSums extends ChangedSums {
  /** Settlements that were read, also those that do not change. */
  read: number;
  by: Record<ChangeGroup, Map<string, ChangedSums>>;
}

/** Groups of a kind. Those of further ones count as {@link OTHER_GROUP}. */
const MAX_GROUPS = 500;
/** No model or agent has this name: names are not empty. */
const OTHER_GROUP = '';

export function emptySums(): RepricingSums {
  return { read: 0, ...NO_CHANGE, by: { day: new Map(), model: new Map(), agent: new Map(), budget: new Map() } };
}

const NO_CHANGE: ChangedSums = { calls: 0, fromMicros: 0, toMicros: 0 };

/** Adds a change to the sums. `groups` says to which it belongs: to a budget for each that counts it. */
export function addChange(
  sums: RepricingSums,
  { settlement, amount }: Change,
  groups: Record<ChangeGroup, readonly string[]>,
): void {
  const from = settlement.data.amount_micros ?? 0;
  add(sums, from, amount.micros);
  for (const group of CHANGE_GROUPS) {
    const known = sums.by[group];
    for (const name of groups[group]) {
      const key = known.has(name) || known.size < MAX_GROUPS ? name : OTHER_GROUP;
      const ofKey = known.get(key) ?? { ...NO_CHANGE };
      known.set(key, ofKey);
      add(ofKey, from, amount.micros);
    }
  }
}

function add(sums: ChangedSums, from: number, to: number): void {
  sums.calls += 1;
  sums.fromMicros += from;
  sums.toMicros += to;
}

/** A job that prices calls of a workspace again. */
export interface RepricingJob extends RepricingTerms {
  id: string;
  tenantId: TenantId;
  state: 'running' | 'done' | 'failed';
  createdAt: Date;
  /** Id of the user. */
  createdBy: string;
  finishedAt: Date | null;
  /** The zone of the days in `sums`. */
  timezone: string;
  /** How many prices the workspace had set when the job was created. Later ones do not count in it. */
  overrides: number;
  /** Number of settlements in the span when the job was created. */
  expected: number;
  /** Settlements before this place were priced. */
  place: { time: number; after: string };
  sums: RepricingSums;
  /** Why it does not go on right now, or has failed; null if nothing is wrong. */
  problem: string | null;
  /** Failures since the last page. */
  failures: number;
}

/** A job without the groups of its changes, which may be thousands. */
export interface RepricingSummary extends Omit<RepricingJob, 'sums'> {
  sums: Omit<RepricingSums, 'by'>;
}

/** What a person asks for, with what is known of the workspace then. */
export type RepricingDraft = RepricingTerms & Pick<RepricingJob, 'timezone' | 'overrides' | 'expected'>;

/** Stores jobs. `list` and `find` return none of another workspace. */
export interface RepricingStore {
  /** Rejects with `conflict` while another job of the workspace runs. */
  create(tenantId: TenantId, draft: RepricingDraft, cause: Cause): Promise<RepricingJob>;
  /** The newest, newest first. */
  list(tenantId: TenantId, limit: number): Promise<RepricingSummary[]>;
  find(tenantId: TenantId, id: string): Promise<RepricingJob | null>;
  /** Takes a running job on which no process works, longest waiting first, for the time of a page. */
  claim(owner: string): Promise<RepricingJob | null>;
  /**
   * Stores how far the job is, and keeps it for the next page, or if `isOver` leaves it to whoever comes first. False
   * if the owner does not have it any more: then nothing is stored.
   */
  save(owner: string, job: RepricingJob, after: { isOver: boolean }): Promise<boolean>;
}
