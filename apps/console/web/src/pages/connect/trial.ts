/** A report of one small call, as a sender would make it. */
export interface TrialReport {
  path: string;
  body: unknown;
}

/** What distinguishes one trial from others. */
export interface TrialCall {
  /** Hexadecimal. */
  traceId: string;
  spanId: string;
  /** As OpenAI makes them. */
  responseId: string;
  /** A UUID. */
  callId: string;
  /** RFC 3339. */
  at: string;
  /** Epoch nanoseconds. */
  nanos: string;
}

type Attributes = Readonly<Record<string, string | number>>;

/** The agent of all trials. */
export const TRIAL_AGENT = 'trial';

/** The model and the tokens of a trial: about 4 micros by its price. */
export const TRIAL = { model: 'gpt-4o-mini', provider: 'openai', input: 12, output: 4, usd: 0.0000042 } as const;

export function newTrialCall(): TrialCall {
  const now = Date.now();
  return {
    traceId: hex(16),
    spanId: hex(8),
    responseId: `chatcmpl-${hex(16)}`,
    callId: crypto.randomUUID(),
    at: new Date(now).toISOString(),
    nanos: `${now}000000`,
  };
}

/** A span in OTLP/JSON, posted to `/v1/traces` or where else a sender posts them. */
export function spanReport(
  { traceId, spanId, nanos }: TrialCall,
  { path = '/v1/traces', scope, attributes }: { path?: string; scope: string; attributes: Attributes },
): TrialReport {
  const span = { traceId, spanId, name: TRIAL_AGENT, startTimeUnixNano: nanos, endTimeUnixNano: nanos };
  const spans = [{ ...span, attributes: listed(attributes) }];
  return { path, body: { resourceSpans: [{ resource: RESOURCE, scopeSpans: [{ scope: { name: scope }, spans }] }] } };
}

/** A log entry in OTLP/JSON. */
export function logReport(
  { nanos }: TrialCall,
  { scope, attributes }: { scope: string; attributes: Attributes },
): TrialReport {
  const logRecords = [{ timeUnixNano: nanos, observedTimeUnixNano: nanos, attributes: listed(attributes) }];
  const scopeLogs = [{ scope: { name: scope }, logRecords }];
  return { path: '/v1/logs', body: { resourceLogs: [{ resource: RESOURCE, scopeLogs }] } };
}

const RESOURCE = { attributes: listed({ 'service.name': 'tollkeeper-console' }) };

function listed(attributes: Attributes) {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: valueOf(value) }));
}

function valueOf(value: string | number) {
  if (typeof value === 'string') return { stringValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

function hex(bytes: number): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(bytes)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  );
}

/** Posts a report with a workspace key and without the session. Resolves to the status of the answer. */
export async function sendTrial({ path, body }: TrialReport, key: string): Promise<number> {
  const answer = await fetch(path, {
    method: 'POST',
    credentials: 'omit',
    headers: {
      'content-type': 'application/json',
      'x-api-key': key,
      'x-tollkeeper-agent': TRIAL_AGENT,
    },
    body: JSON.stringify(body),
  });
  return answer.status;
}
