import { type FactTable, factTableOf, type IntakeRecord } from '@tollkeeper/call-facts';
import {
  type GatewayEvent,
  MAX_EVENTS_PER_BATCH,
  MAX_REPORT_CALLS,
  type ReportContent,
  type ReportMapping,
} from '@tollkeeper/contracts';
import type { Clock, TenantId, Turns } from '@tollkeeper/kernel';
import { eventsOf, missingPricesOf } from './call-events.ts';
import type { PricedCall } from './call-price.ts';
import type { GuardBlock } from './call-record.ts';
import { readCalls } from './calls.ts';
import { decodeLitellm, decodeOtlp, type Encoding } from './decode.ts';
import { planNotice, samplingNotice, unpricedNotice } from './notices.ts';
import type { Signal } from './otlp-protobuf.ts';
import { pricedCalls, type WorkspaceTerms } from './priced-calls.ts';
import { METRICS_REPORT, outcomeOf, refusedReport, reportOf } from './report.ts';
import { createSaidToday, utcDayOf } from './said-today.ts';

/**
 * What became of a reported call. `unpriced`: it has tokens, but neither a cost nor a known price. `blocked`: by a
 * guard of the sender.
 */
export const CALL_FATES = ['settled', 'unpriced', 'no_usage', 'client_gone', 'failed', 'blocked'] as const;
export type CallFate = (typeof CALL_FATES)[number];

/** What the answer says about a body that was taken. */
export interface Taken {
  /** Calls and blocks whose events are durable in the log, also calls of which nobody knows the cost. */
  accepted: number;
  /** Sentences about what was taken otherwise than the sender may expect. */
  notices: readonly string[];
  /** Number of spans, log entries or objects, whether they could be read or not. */
  objects: number;
  /** The objects of a callback that could not be read, by their position. */
  unreadable: readonly { index: number; message: string }[];
}

interface OtlpBody {
  bytes: Buffer;
  signal: Signal;
  encoding: Encoding;
}

interface TakeOptions {
  /** The path that the body was posted to. */
  path: string;
  /** The agent that the request names for all of its calls. */
  agent: string | undefined;
  /** Aborted when nobody waits any more: what has not begun is not done. */
  signal: AbortSignal;
}

/** Takes reports of calls. Rejects like decoders and the intake of events. A body that is sent again counts once. */
export interface CallIntake<Key> {
  takeOtlp(key: Key, body: OtlpBody, options: TakeOptions): Promise<Taken>;
  /**
   * The objects of LiteLLM's `generic_api` callback, or a part of them. `before` is the number of objects in earlier
   * parts, which were taken.
   */
  takeLitellm(key: Key, bytes: Buffer, options: TakeOptions & { before: number }): Promise<Taken>;
  /** Metrics count nothing. Whoever watches sees why. */
  dropMetrics(key: Key, options: Pick<TakeOptions, 'path'>): void;
}

/** Calls of a report whose facts people see. */
const EXPLAINED = MAX_REPORT_CALLS;

/** Bodies up to this size never wait for larger ones. */
const SMALL_BYTES = 64 * 1024;

interface ReporterKey {
  tenantId: TenantId;
  /** Whether somebody waits to see what was understood. */
  watched: boolean;
  /** How its reports are read. */
  reports: ReportMapping;
}

/** The records of a body, and the table by which they are read. */
interface Decoded {
  records: readonly IntakeRecord[];
  table: FactTable;
}

export interface CallIntakeDeps<Key> extends WorkspaceTerms {
  /** As the intake of events: resolves when they are durable. */
  accept: (key: Key, events: readonly GatewayEvent[]) => Promise<void>;
  /** Charges a workspace for further events of an admitted request. Throws `rate_limited`. */
  chargeEvents: (tenantId: TenantId, more: number) => void;
  /** The same for those of a body of which a part was taken: never throws. */
  oweEvents: (tenantId: TenantId, more: number) => void;
  count: (fate: CallFate, calls: number) => void;
  /** Counts calls that were taken without the plan that they name, because the workspace has no such plan. */
  countPlansLeftOut: (calls: number) => void;
  /** Shows people what was understood of a body. Called only while somebody watches the workspace; does not wait. */
  show: (key: Key, path: string, report: ReportContent) => void;
  /** Records take several times the memory of a body, so bodies take turns, weighted by their bytes. */
  turns: Record<'small' | 'large', Turns>;
  clock: Clock;
}

export function createCallIntake<Key extends ReporterKey>(deps: CallIntakeDeps<Key>): CallIntake<Key> {
  const { accept, chargeEvents, oweEvents, count, countPlansLeftOut, show, turns, clock } = deps;
  /** The ids of events about models without a price. Every call would report them, and readers know a repeated one. */
  const missingPrices = createSaidToday();
  /** The sources of calls that are a sample. */
  const sampling = createSaidToday();

  async function take(
    key: Key,
    { records, table }: Decoded,
    { path, agent, signal, before = 0 }: TakeOptions & { before?: number },
  ): Promise<Taken> {
    const receivedMs = clock();
    const explained = key.watched ? EXPLAINED : 0;
    const ownGuards = [key.reports.guard];
    const reading = await readCalls(records, { receivedMs, agent, table, ownGuards, explained, signal });
    const { calls, plansLeftOut } = await pricedCalls(reading, key, deps);
    const ofCalls = await eventsOf(calls, reading.blocks);
    const today = [key.tenantId, utcDayOf(receivedMs)] as const;
    const missing = (await missingPricesOf(calls, receivedMs)).filter(({ id }) => missingPrices.isNew(...today, id));
    const events = [...ofCalls, ...missing];
    if (before > 0) oweEvents(key.tenantId, events.length);
    // The first was charged at the admission of the request.
    else if (events.length > 1) chargeEvents(key.tenantId, events.length - 1);
    for (let start = 0; start < events.length; start += MAX_EVENTS_PER_BATCH) {
      signal.throwIfAborted();
      await accept(key, events.slice(start, start + MAX_EVENTS_PER_BATCH));
    }
    for (const { id } of missing) missingPrices.note(...today, id);
    const sampled = sampledSources(calls).filter((source) => sampling.isNew(...today, source));
    for (const source of sampled) sampling.note(...today, source);
    const fates = fatesOf(calls, reading.blocks);
    for (const [fate, number] of fates) count(fate, number);
    countPlansLeftOut(plansLeftOut);
    if (key.watched) show(key, path, reportOf(records.length, reading, calls));
    const unpriced = fates.get('unpriced') ?? 0;
    return {
      accepted: ofCalls.length,
      notices: [
        ...(unpriced > 0 ? [unpricedNotice(unpriced)] : []),
        ...(sampled.length > 0 ? [samplingNotice(sampled)] : []),
        ...(plansLeftOut > 0 ? [planNotice(plansLeftOut)] : []),
        ...reading.notices,
      ],
      objects: records.length,
      unreadable: [],
    };
  }

  async function inTurn(
    key: Key,
    { length }: Buffer,
    { path, signal }: TakeOptions,
    work: () => Promise<Taken>,
  ): Promise<Taken> {
    try {
      return await turns[length > SMALL_BYTES ? 'large' : 'small'].run(key.tenantId, length, work, signal);
    } catch (error) {
      if (key.watched) show(key, path, refusedReport(error));
      throw error;
    }
  }

  return {
    takeOtlp: (key, { bytes, signal, encoding }, options) =>
      inTurn(key, bytes, options, async () => {
        const table = factTableOf(key.reports);
        const records = await decodeOtlp(bytes, signal, encoding, { asked: table.asked, abort: options.signal });
        return take(key, { records, table }, options);
      }),
    takeLitellm: (key, bytes, options) =>
      inTurn(key, bytes, options, async () => {
        const table = factTableOf(key.reports);
        const { records, unreadable } = await decodeLitellm(bytes, {
          ...{ asked: table.asked, abort: options.signal, before: options.before },
        });
        const taken = await take(key, { records, table }, options);
        return { ...taken, objects: records.length + unreadable.length, unreadable };
      }),
    dropMetrics(key, { path }) {
      if (key.watched) show(key, path, METRICS_REPORT);
    },
  };
}

function fatesOf(calls: readonly PricedCall[], blocks: readonly GuardBlock[]): ReadonlyMap<CallFate, number> {
  const fates = new Map<CallFate, number>();
  const add = (fate: CallFate) => fates.set(fate, (fates.get(fate) ?? 0) + 1);
  for (const call of calls) add(outcomeOf(call));
  if (blocks.length > 0) fates.set('blocked', blocks.length);
  return fates;
}

function sampledSources(calls: readonly PricedCall[]): string[] {
  return [...new Set(calls.flatMap(({ flags, source }) => (flags.includes('sampled') ? source : [])))];
}
