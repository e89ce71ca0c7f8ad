import { createHash } from 'node:crypto';
import { ASKED, eventNameOf, type FoundFacts, type IntakeRecord } from '@tollkeeper/call-facts';
import { AGENT_PROGRAMS, callRequestId, responseSettlementId } from '@tollkeeper/contracts';
import { IDENTIFIER } from '@tollkeeper/kernel';

const NAMES: ReadonlySet<string> = new Set(ASKED.names);

/** What identifies a call. */
export interface CallIdentity {
  /** The same for all reporters of a call that know the provider's response id, so that it counts once. */
  settlementId: string;
  /** By which the enforcer finds its reservation: its id, or that of the call. */
  requestId: string | undefined;
  /** The reservation that the sender names. */
  reservationId: string | undefined;
}

/** 32 hexadecimal digits that are the same for the same values in the same order. */
export function digest(values: readonly unknown[]): string {
  return sha256(JSON.stringify(values));
}

export function identityOf(record: IntakeRecord, facts: FoundFacts): CallIdentity {
  const callId = facts.value('callId');
  const ofCall = callId === undefined ? undefined : callRequestId(callId);
  const reservationId = ifIdentifier(facts.value('reservationId'));
  return { settlementId: settlementIdOf(record, facts, ofCall), requestId: reservationId ?? ofCall, reservationId };
}

function settlementIdOf(record: IntakeRecord, facts: FoundFacts, ofCall: string | undefined): string {
  const given = ifIdentifier(facts.value('settlementId'));
  if (given !== undefined) return given;
  const responseId = facts.value('responseId');
  // LiteLLM gives the id of the call to what has no response id.
  const isOfProvider = responseId !== undefined && responseId !== facts.value('callId');
  const ofResponse = isOfProvider ? responseSettlementId(responseId) : undefined;
  return ofResponse ?? ofCall ?? ofAgentProgram(record, facts) ?? ofSpan(record) ?? ofFacts(record);
}

/** Senders that report no response ids, but sessions and the order in them. */
const PROGRAM_SENDERS: readonly {
  prefix: string;
  isSenderOf: (record: IntakeRecord) => boolean;
  /** The facts that are the place of a call, beside its tokens. */
  place: readonly ('sessionId' | 'promptId' | 'eventSequence' | 'eventTimestamp' | 'conversationId')[];
}[] = [
  {
    prefix: AGENT_PROGRAMS.claude_code,
    isSenderOf: ({ scope }) => scope.name.startsWith('com.anthropic.claude_code'),
    place: ['sessionId', 'promptId', 'eventSequence', 'eventTimestamp'],
  },
  {
    prefix: AGENT_PROGRAMS.codex,
    isSenderOf: (record) => eventNameOf(record) === 'codex.sse_event',
    place: ['conversationId', 'eventTimestamp'],
  },
];

function ofAgentProgram(record: IntakeRecord, facts: FoundFacts): string | undefined {
  const program = PROGRAM_SENDERS.find(({ isSenderOf }) => isSenderOf(record));
  if (program === undefined) return undefined;
  const tokens = [
    facts.value('inputTokens')?.value,
    facts.value('cacheReadTokens')?.value,
    facts.value('cacheWriteTokens')?.value,
    facts.value('outputTokens')?.value,
  ];
  return `${program.prefix}${digest([...program.place.map((name) => facts.value(name)), ...tokens])}`;
}

function ofSpan({ traceId, spanId }: IntakeRecord): string | undefined {
  return traceId === null || spanId === null ? undefined : `otel:${traceId}:${spanId}`;
}

/** Not of what a workspace key maps: a body that is sent again after a change of the key is the same. */
function ofFacts({ attributes, timeMs }: IntakeRecord): string {
  const facts = [...attributes].flatMap(([name, value]) => (NAMES.has(name) ? [[name, String(value)]] : []));
  return `facts:${digest([...facts.sort(([a], [b]) => (a! < b! ? -1 : 1)), ['time', timeMs]])}`;
}

function ifIdentifier(id: string | undefined): string | undefined {
  return id !== undefined && IDENTIFIER.test(id) ? id : undefined;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
