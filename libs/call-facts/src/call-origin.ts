import {
  type Labels,
  labelValue,
  MAX_EVENT_TIME_AHEAD_MS,
  modelName,
  planKey,
  providerName,
} from '@tollkeeper/contracts';
import type { z } from 'zod';
import type { FoundFacts } from './read-facts.ts';
import type { IntakeRecord } from './record.ts';

const UNKNOWN_AGENT = 'unknown';
const MAX_IDENTIFIER = 128;
const MAX_SERVICE = 200;

/** Who made a call, for what, and when. */
export interface CallOrigin {
  /** The source of its events: `litellm`, or `otel/` and the name of the service. */
  source: string;
  agentId: string;
  runId: string;
  labels: Labels;
  planKey: string | undefined;
  /** Epoch milliseconds. */
  timeMs: number;
  /** That of the request, if the sender does not say which one answered. */
  model: string | undefined;
  provider: string | undefined;
}

export interface OriginOptions {
  /** Epoch milliseconds. */
  receivedMs: number;
  /** The agent that the request names for all of its calls. */
  agent?: string | undefined;
}

/** Who made the call; `callId` is its run if the sender has no run and no trace. */
export function originOf(
  record: IntakeRecord,
  facts: FoundFacts,
  { receivedMs, agent, callId }: OriginOptions & { callId: string },
): CallOrigin {
  return {
    source: sourceOf(record, facts),
    agentId: toIdentifier(agent ?? facts.value('agent') ?? UNKNOWN_AGENT),
    runId: toIdentifier(facts.value('run') ?? record.traceId ?? callId),
    labels: labelsOf(facts),
    planKey: ifValid(planKey, facts.value('plan')),
    timeMs: timeOf(record, facts, receivedMs),
    model: ifValid(modelName, facts.value('responseModel')) ?? ifValid(modelName, facts.value('requestModel')),
    provider: ifValid(providerName, facts.value('provider')),
  };
}

/** An identifier that is like the name: `Research Agent` is `Research-Agent`. */
export function toIdentifier(name: string): string {
  return name.replace(/[^A-Za-z0-9._:-]/gu, '-').slice(0, MAX_IDENTIFIER);
}

/** The value if it is as the schema says. Absent ones are not parsed: an error takes longer than the rest of a call. */
export function ifValid<T>(schema: z.ZodType<T>, value: unknown): T | undefined {
  return value === undefined ? undefined : schema.safeParse(value).data;
}

function sourceOf({ kind }: IntakeRecord, facts: FoundFacts): string {
  switch (kind) {
    case 'callback':
      return 'litellm';
    case 'span':
    case 'log':
      return `otel/${(facts.value('service') ?? 'unknown').slice(0, MAX_SERVICE).replace(/[^\x21-\x7e]/gu, '-')}`;
  }
}

function labelsOf(facts: FoundFacts): Labels {
  const labels: Record<string, string> = {};
  for (const name of ['user', 'team'] as const) {
    const value = ifValid(labelValue, facts.value(name));
    if (value !== undefined) labels[name] = value;
  }
  for (const [name, said] of facts.labels()) {
    const value = ifValid(labelValue, said);
    if (value !== undefined) labels[name] = value;
  }
  return labels;
}

/** A time that is too far ahead of the clock is none: some senders have a wrong clock. */
function timeOf({ timeMs, observedMs }: IntakeRecord, facts: FoundFacts, receivedMs: number): number {
  const said = timeMs || facts.value('eventTime') || observedMs || receivedMs;
  return said > receivedMs + MAX_EVENT_TIME_AHEAD_MS ? receivedMs : said;
}
