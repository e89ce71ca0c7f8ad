import type { AllowedCall, CallOptions, DeniedCall, ReserveOptions, SettleOptions } from './call.types.ts';
import { createEventReporter, type EventReporter, type ReportedEvent, type ReporterOptions } from './event.reporter.ts';
import type { LimitStatus, ReserveData, ReserveResponse, Reservation } from './gen/types.gen.ts';
import type { SettleReservationData } from './gen/types.gen.ts';
import { LeasedCalls, type LeaseOptions } from './leased.calls.ts';
import { monotonicClock } from './monotonic.clock.ts';
import { createTransport, type Fetch, mayPass, requireTimes, withField } from './http.transport.ts';
import { TollkeeperError, TollkeeperUnavailable, unavailable } from './tollkeeper.error.ts';
import { within } from './within.ts';

export interface TollkeeperOptions {
  /** Address of Tollkeeper, such as `https://tollkeeper.example.com`. */
  url: string;
  /** A workspace key of role `developer` or `admin`: `ws_live_…`. */
  key: string;
  /** What to do while Tollkeeper cannot decide; `deny` by default. */
  onUnavailable?: 'deny' | 'allow';
  /** For a reservation or its extension, all attempts together; 1.5 s by default. */
  timeoutMs?: number;
  /** For settling and releasing, all attempts together. The call is over, so nobody waits for it; 10 s by default. */
  settleTimeoutMs?: number;
  /** Grants calls in memory, from amounts that Tollkeeper leases to this process. */
  leases?: true | LeaseOptions;
  /** `source` of events that are reported without one; `tollkeeper-client` by default. */
  source?: string;
  /** Defaults: 20 ms of linger, 10,000 events, and a minute for a batch. */
  reporting?: Partial<ReporterOptions>;
  fetch?: Fetch;
}

export interface Tollkeeper extends EventReporter {
  /** Asks whether a call may spend, and reserves the amount if so. */
  reserve(request: ReserveOptions): Promise<AllowedCall | DeniedCall>;
}

type Timing = CallOptions & { timeoutMs: number; patient?: boolean };

const RESERVATIONS = '/api/v1/reservations';
/** Appended to the reason: nothing settles the reservation later, and an answer may have been lost. */
const CALL_AGAIN = ' The spend may not be recorded. Call settle again.';
const STILL_REPORTED = 'Tollkeeper did not accept the spend in time. It is still being reported.';
/** The characters of a bearer token (RFC 6750 §2.1). */
const KEY = /^[A-Za-z0-9._~+/-]+=*$/;

export function createTollkeeper(options: TollkeeperOptions): Tollkeeper {
  const { url, key, onUnavailable = 'deny', timeoutMs = 1_500, settleTimeoutMs = 10_000, fetch } = options;
  if (!KEY.test(key)) throw new TypeError('key must be a workspace key: ws_live_…');
  requireTimes({ timeoutMs, settleTimeoutMs });
  const send = createTransport({ url, fetch, headers: { authorization: `Bearer ${key}` }, secret: key });
  const source = options.source ?? 'tollkeeper-client';
  const reporting = { lingerMs: 20, maxQueued: 10_000, timeoutMs: 60_000, ...options.reporting };
  const reporter = createEventReporter(send, source, reporting);
  const deps = { send, report: reporter.report, clock: monotonicClock, timeoutMs, settleTimeoutMs };
  const leases = options.leases && new LeasedCalls({ ...deps, options: options.leases === true ? {} : options.leases });

  function post(path: string, body: object | undefined, timing: Timing): Promise<unknown> {
    return send({ method: 'POST', path, body: body && JSON.stringify(body), repeatable: true, ...timing });
  }

  function reserved(requestId: string, reservation: Reservation, limits: LimitStatus[]): AllowedCall {
    const ownSettlementId = crypto.randomUUID();
    const one = `${RESERVATIONS}/${encodeURIComponent(reservation.id)}`;
    const change = async (action: string, body: object | undefined, timing: Timing) =>
      withField<Reservation>(await post(`${one}:${action}`, body, timing), 'id');
    const unhurried = (signal?: AbortSignal) => ({ signal, timeoutMs: settleTimeoutMs, patient: true });
    return {
      ...{ allowed: true, requestId, reservation, leaseId: null, limits },
      settle({ settlementId = ownSettlementId, signal, ...cost }) {
        const body: Loose<SettleReservationData['body']> = { settlement_id: settlementId, ...toCost(cost) };
        return change('settle', body, unhurried(signal)).catch((error: unknown) => {
          if (error instanceof TollkeeperError && mayPass(error, true)) error.message += CALL_AGAIN;
          throw error;
        });
      },
      release: ({ signal } = {}) => change('release', undefined, unhurried(signal)),
      extend: (ttlSeconds, { signal } = {}) => change('extend', { ttl_seconds: ttlSeconds }, { signal, timeoutMs }),
    };
  }

  async function reserve(request: ReserveOptions, deadline: number): Promise<AllowedCall | DeniedCall> {
    const { amountMicros, ttlSeconds, requestId = crypto.randomUUID(), signal } = request;
    const call = toCall(request);
    const amount = { amount_micros: amountMicros, ttl_seconds: ttlSeconds };
    const body: Loose<ReserveData['body']> = { request_id: requestId, ...call, ...amount };
    try {
      const leased = await leases?.ask(request);
      if (leased !== undefined) return leased;
      const timing = { signal, timeoutMs: deadline - performance.now() };
      const answer = withField<ReserveResponse>(await post(RESERVATIONS, body, timing), 'decision');
      const { limits } = answer;
      if (answer.decision === 'denied') return { allowed: false, requestId, denial: answer.denial, limits };
      return reserved(requestId, withField<Reservation>(answer.reservation, 'id'), limits);
    } catch (error) {
      if (onUnavailable === 'allow' && error instanceof TollkeeperUnavailable) return unreserved(requestId, call, deps);
      throw error;
    }
  }

  return {
    report: reporter.report,
    reserve(request) {
      if (request.signal?.aborted === true) return Promise.reject(request.signal.reason as Error);
      const leased = leases?.take(request);
      return leased === undefined ? reserve(request, performance.now() + timeoutMs) : Promise.resolve(leased);
    },
    async flush() {
      await Promise.all([reporter.flush(), leases?.flush()]);
    },
    async close(closing) {
      // Leases first: a settlement that they cannot take is reported as an event.
      try {
        await leases?.close(closing);
      } finally {
        await reporter.close(closing);
      }
    },
  };
}

/** Allowed while Tollkeeper was unavailable: its cost is reported as unreserved spend. */
function unreserved(
  requestId: string,
  asked: ReturnType<typeof toCall>,
  { report, settleTimeoutMs }: { report: EventReporter['report']; settleTimeoutMs: number },
): AllowedCall {
  const ownSettlementId = crypto.randomUUID();
  let time: string | undefined;
  return {
    ...{ allowed: true, requestId, reservation: null, leaseId: null, limits: [] },
    async settle({ settlementId = ownSettlementId, signal, ...cost }) {
      time ??= new Date().toISOString();
      const { model = asked.model, provider = asked.provider } = cost;
      const data = { ...asked, settlement_id: settlementId, ...toCost({ ...cost, model, provider }) };
      const event = { id: settlementId, time, type: 'spend.settled', data };
      const late = () => unavailable('timeout', STILL_REPORTED);
      await within({ timeoutMs: settleTimeoutMs }, late, () => report(event as ReportedEvent, { signal }));
      return null;
    },
    release: () => Promise.resolve(null),
    extend: () => Promise.resolve(null),
  };
}

/** For JSON, which omits undefined. */
type Loose<T> = { [K in keyof T]: T[K] | undefined };

/** A copy: the caller may change its labels before the call is settled. */
function toCall({ agentId, runId, planKey, model, provider, labels }: ReserveOptions) {
  return { agent_id: agentId, run_id: runId, plan_key: planKey, model, provider, labels: labels && { ...labels } };
}

function toCost({ amountMicros, model, provider, inputTokens, outputTokens }: SettleOptions) {
  const tokens = { input_tokens: inputTokens, output_tokens: outputTokens };
  return { amount_micros: amountMicros, model, provider, ...tokens };
}
