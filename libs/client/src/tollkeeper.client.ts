import { createEventReporter, type EventReporter, type ReportedEvent, type ReporterOptions } from './event.reporter.ts';
import type { BudgetDenial, LimitStatus, ReserveData, ReserveResponse, Reservation } from './gen/types.gen.ts';
import type { SettleReservationData } from './gen/types.gen.ts';
import { createTransport, type Fetch, mayPass, requireTimes, withField } from './http.transport.ts';
import { TollkeeperError, TollkeeperUnavailable, unavailable } from './tollkeeper.error.ts';
import { within } from './within.ts';

export interface TollkeeperOptions {
  /** Address of Tollkeeper, such as `https://tollkeeper.example.com`. */
  url: string;
  /** A workspace key of role `developer` or `admin`: `ws_live_…`. */
  key: string;
  /** What to do while Tollkeeper cannot decide; `deny` unless given. */
  onUnavailable?: 'deny' | 'allow';
  /** For a reservation, or its extension, with all attempts; 1.5 s unless given. */
  timeoutMs?: number;
  /** For settling and releasing, with all attempts: the call is over, so nobody waits for it; 10 s unless given. */
  settleTimeoutMs?: number;
  /** `source` of the events that are reported without one; `tollkeeper-client` unless given. */
  source?: string;
  /** 20 ms of linger, 10,000 events, and a minute for a batch unless given. */
  reporting?: Partial<ReporterOptions>;
  fetch?: Fetch;
}

export interface CallOptions {
  signal?: AbortSignal | undefined;
}

export interface ReserveOptions extends CallOptions {
  agentId: string;
  runId: string;
  /** USD micros that the call may cost at most. */
  amountMicros: number;
  planKey?: string | undefined;
  /** 10 to 3600; 600 unless given. More than the call takes. */
  ttlSeconds?: number | undefined;
  /** Made unless given. One for each call: the same one gives the same reservation. */
  requestId?: string | undefined;
}

export interface SettleOptions extends CallOptions {
  /** USD micros that the call has cost. */
  amountMicros: number;
  model?: string | undefined;
  provider?: string | undefined;
  inputTokens?: number | undefined;
  outputTokens?: number | undefined;
  /** Made unless given, once for the call. */
  settlementId?: string | undefined;
}

export interface AllowedCall {
  allowed: true;
  requestId: string;
  /**
   * Null if Tollkeeper could not be asked (`onUnavailable: 'allow'`): nothing is held. For a `requestId` that is given
   * again it is the reservation as it is now, which holds something only while its `state` is `held`.
   */
  reservation: Reservation | null;
  limits: LimitStatus[];
  /**
   * Says what the call has cost. After an error nothing says so later: call it again, it counts once. Null without a
   * reservation; the spend is then reported in the background for as long as `reporting` says, also when this rejects
   * for its time.
   */
  settle(settlement: SettleOptions): Promise<Reservation | null>;
  /** Says that the call has cost nothing. */
  release(options?: CallOptions): Promise<Reservation | null>;
  /** Holds the amount for `ttlSeconds` from now. */
  extend(ttlSeconds: number, options?: CallOptions): Promise<Reservation | null>;
}

export interface DeniedCall {
  allowed: false;
  requestId: string;
  denial: BudgetDenial;
  limits: LimitStatus[];
}

export interface Tollkeeper extends EventReporter {
  /** Asks whether a call may spend, and holds the amount if it may. */
  reserve(request: ReserveOptions): Promise<AllowedCall | DeniedCall>;
}

type Timing = CallOptions & { timeoutMs: number; patient?: boolean };

const RESERVATIONS = '/api/v1/reservations';
/** Behind the reason: nothing settles a hold later, and an answer that was lost says nothing. */
const CALL_AGAIN = ' The spend may not be recorded. Call settle again.';
const STILL_REPORTED = 'Tollkeeper did not take the spend in time. It is still being reported.';
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
      ...{ allowed: true, requestId, reservation, limits },
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

  /** Allowed without having been asked about: what it costs is reported as spend without a reservation. */
  function unreserved(requestId: string, { agentId, runId, planKey }: ReserveOptions): AllowedCall {
    const ownSettlementId = crypto.randomUUID();
    let time: string | undefined;
    return {
      ...{ allowed: true, requestId, reservation: null, limits: [] },
      async settle({ settlementId = ownSettlementId, signal, ...cost }) {
        time ??= new Date().toISOString();
        const who = { settlement_id: settlementId, agent_id: agentId, run_id: runId, plan_key: planKey };
        const event = { id: settlementId, time, type: 'spend.settled', data: { ...who, ...toCost(cost) } };
        const late = () => unavailable('timeout', STILL_REPORTED);
        await within({ timeoutMs: settleTimeoutMs }, late, () => reporter.report(event as ReportedEvent, { signal }));
        return null;
      },
      release: () => Promise.resolve(null),
      extend: () => Promise.resolve(null),
    };
  }

  return {
    ...reporter,
    async reserve(request) {
      const { agentId, runId, amountMicros, planKey, ttlSeconds, requestId = crypto.randomUUID(), signal } = request;
      const call = { request_id: requestId, agent_id: agentId, run_id: runId, plan_key: planKey };
      const body: Loose<ReserveData['body']> = { ...call, amount_micros: amountMicros, ttl_seconds: ttlSeconds };
      try {
        const answer = withField<ReserveResponse>(await post(RESERVATIONS, body, { signal, timeoutMs }), 'decision');
        const { limits } = answer;
        if (answer.decision === 'denied') return { allowed: false, requestId, denial: answer.denial, limits };
        return reserved(requestId, withField<Reservation>(answer.reservation, 'id'), limits);
      } catch (error) {
        if (onUnavailable === 'allow' && error instanceof TollkeeperUnavailable) return unreserved(requestId, request);
        throw error;
      }
    },
  };
}

/** For JSON, which leaves out what is undefined. */
type Loose<T> = { [K in keyof T]: T[K] | undefined };

function toCost({ amountMicros, model, provider, inputTokens, outputTokens }: SettleOptions) {
  const tokens = { input_tokens: inputTokens, output_tokens: outputTokens };
  return { amount_micros: amountMicros, model, provider, ...tokens };
}
