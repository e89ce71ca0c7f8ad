import type { Labels } from '@tollkeeper/contracts';
import { startSlices, type TenantId, type TimeSpan } from '@tollkeeper/kernel';
import type { DashboardEvent } from '../domain/event.ts';
import { type Cell, toCsvLine, toUsd } from '@tollkeeper/kernel/csv';
import type { Lines } from './export.lines.ts';

const HOUR_MS = 3_600_000;
/** Charges in memory. An hour with more has several rows of the same kind. */
const MAX_CHARGES = 10_000;
/** Calls after which rows are sent, although their hour goes on: the client has to get something every few seconds. */
const MAX_CALLS = 250_000;
const UNKNOWN = 'Unknown';

/** Calls of an hour that have all these facts in common. */
interface Charge extends TimeSpan {
  data: Pick<DashboardEvent['data'], 'provider' | 'model' | 'agent_id' | 'plan_key' | 'key_id'> & { labels?: Labels };
  /** Whether they report tokens. If not, they are counted by calls. */
  hasTokens: boolean;
  micros: number;
  calls: number;
  unpriced: number;
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  reasoningTokens: number;
}

/** Adds up calls, which are in the order of time, to charges of a UTC hour. Their number in memory is bounded. */
export async function* toCharges(
  pages: AsyncIterable<DashboardEvent[]>,
  span: TimeSpan,
  maxCharges = MAX_CHARGES,
): AsyncGenerator<Charge[]> {
  let charges = new Map<string, Charge>();
  let hour = NaN;
  let calls = 0;
  for await (const page of pages) {
    const done: Charge[] = [];
    const slices = startSlices();
    for (const event of page) {
      if (slices.usedUp()) await slices.next();
      const at = Math.floor(event.time / HOUR_MS) * HOUR_MS;
      if (at !== hour || charges.size >= maxCharges || calls >= MAX_CALLS) {
        for (const charge of charges.values()) done.push(charge);
        charges = new Map();
        calls = 0;
        hour = at;
      }
      addCall(charges, event, { start: Math.max(at, span.start), end: Math.min(at + HOUR_MS, span.end) });
      calls += 1;
    }
    if (done.length > 0) yield done;
  }
  yield [...charges.values()];
}

function addCall(charges: Map<string, Charge>, { data }: DashboardEvent, hour: TimeSpan): void {
  const { provider, model, agent_id, plan_key, key_id, labels } = data;
  const hasTokens = data.input_tokens !== undefined || data.output_tokens !== undefined;
  const key = JSON.stringify([provider, model, agent_id, plan_key, key_id, labels, hasTokens]);
  let charge = charges.get(key);
  if (charge === undefined) {
    charge = {
      ...hour,
      data: { provider, model, agent_id, plan_key, key_id, ...(labels && { labels }) },
      hasTokens,
      ...{ micros: 0, calls: 0, unpriced: 0, inputTokens: 0, outputTokens: 0 },
      ...{ cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
    };
    charges.set(key, charge);
  }
  charge.micros += data.amount_micros ?? 0;
  charge.calls += 1;
  charge.unpriced += data.priced_by === 'none' ? 1 : 0;
  charge.inputTokens += data.input_tokens ?? 0;
  charge.outputTokens += data.output_tokens ?? 0;
  charge.cacheReadTokens += data.cache_read_tokens ?? 0;
  charge.cacheWriteTokens += data.cache_write_tokens ?? 0;
  charge.reasoningTokens += data.reasoning_tokens ?? 0;
}

interface Workspace {
  id: TenantId;
  name: string;
}

/**
 * The columns of FOCUS 1.2: all mandatory ones, those of the others that Tollkeeper knows, and its own, which begin
 * with `x_`. `docs/exports.md` explains them.
 */
const COLUMNS: readonly (readonly [name: string, cell: (charge: Charge, workspace: Workspace) => Cell])[] = [
  ['BilledCost', cost],
  ['BillingAccountId', (_charge, { id }) => id],
  ['BillingAccountName', (_charge, { name }) => name],
  ['BillingAccountType', () => 'Workspace'],
  ['BillingCurrency', () => 'USD'],
  ['BillingPeriodEnd', ({ start }) => monthOf(start, 1)],
  ['BillingPeriodStart', ({ start }) => monthOf(start, 0)],
  ['ChargeCategory', () => 'Usage'],
  ['ChargeClass', () => null],
  [
    'ChargeDescription',
    ({ calls, data }) => `${calls === 1 ? '1 call' : `${calls} calls`} of ${data.model ?? UNKNOWN}`,
  ],
  ['ChargeFrequency', () => 'Usage-Based'],
  ['ChargePeriodEnd', ({ end }) => toTime(end)],
  ['ChargePeriodStart', ({ start }) => toTime(start)],
  ['ConsumedQuantity', quantity],
  ['ConsumedUnit', unit],
  ['ContractedCost', cost],
  ['EffectiveCost', cost],
  ['InvoiceId', () => null],
  ['InvoiceIssuerName', provider],
  ['ListCost', cost],
  ['PricingQuantity', quantity],
  ['PricingUnit', unit],
  ['ProviderName', provider],
  ['PublisherName', provider],
  ['ServiceCategory', () => 'AI and Machine Learning'],
  ['ServiceName', () => 'Model API'],
  ['ServiceSubcategory', () => 'Generative AI'],
  ['SkuId', ({ data }) => data.model ?? UNKNOWN],
  ['Tags', ({ data }) => (data.labels === undefined ? null : JSON.stringify(data.labels))],
  ['x_AgentId', ({ data }) => data.agent_id],
  ['x_CacheReadTokens', ({ cacheReadTokens }) => cacheReadTokens],
  ['x_CacheWriteTokens', ({ cacheWriteTokens }) => cacheWriteTokens],
  ['x_Calls', ({ calls }) => calls],
  ['x_InputTokens', ({ inputTokens }) => inputTokens],
  ['x_OutputTokens', ({ outputTokens }) => outputTokens],
  ['x_PlanKey', ({ data }) => data.plan_key],
  ['x_ReasoningTokens', ({ reasoningTokens }) => reasoningTokens],
  ['x_UnpricedCalls', ({ unpriced }) => unpriced],
  ['x_WorkspaceKeyId', ({ data }) => data.key_id],
];

export function createFocusLines(workspace: Workspace): Lines<Charge> {
  return {
    head: toCsvLine(COLUMNS.map(([name]) => name)),
    line: (charge) => toCsvLine(COLUMNS.map(([, cell]) => cell(charge, workspace))),
  };
}

function cost({ micros }: Charge): Cell {
  return toUsd(micros);
}

/** With a decimal point: readers that guess types take the column as decimals, as FOCUS wants it. */
function quantity({ hasTokens, inputTokens, outputTokens, calls }: Charge): Cell {
  return (hasTokens ? inputTokens + outputTokens : calls).toFixed(1);
}

function unit({ hasTokens }: Charge): Cell {
  return hasTokens ? 'Tokens' : 'Requests';
}

function provider({ data }: Charge): Cell {
  return data.provider ?? UNKNOWN;
}

/** The first instant of the UTC month `later` months after that of `time`. */
function monthOf(time: number, later: number): string {
  const at = new Date(time);
  return toTime(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + later));
}

/** In whole seconds, as FOCUS writes times. */
function toTime(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19)}Z`;
}
