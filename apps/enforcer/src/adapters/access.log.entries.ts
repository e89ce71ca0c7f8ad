import {
  accessLogEntry,
  type AccessLogEntryMessage,
  callRequestId,
  invalidRequest,
  issueMessage,
  modelName,
  toErrorDetails,
} from '@tollkeeper/contracts';
import { z } from 'zod';
import { callHeaders } from './authz.call.ts';
import type { CallUsage, EndedCall } from './call.end.ts';
import { UNITS } from './rate.limit.descriptors.ts';

/** Where the filters of Envoy write what they read of a call, by the settings. */
const NAMESPACE = 'tollkeeper';
/** Filters that get the id of a reservation from us. */
const ASKING = ['envoy.filters.http.ext_authz', 'envoy.filters.http.ratelimit'];
/** Longest entry, so that none takes the process for long. Those of Envoy have about a kilobyte. */
const MAX_BYTES = 64 * 1024;
/** Entries of a request that goes on, and of each attempt at an upstream, say nothing of its end. */
const OF_ENDS = new Set<unknown>(['DownstreamEnd', 'NotSet']);

const AGENT = 'x-tollkeeper-agent';
const headers = callHeaders.pick({ [AGENT]: true, 'x-tollkeeper-run': true, 'x-tollkeeper-plan': true });
// The answer of a model may have any number, so that its call still ends.
const count = z.coerce.number().int().min(1).max(1e12).optional().catch(undefined);
const model = modelName.optional().catch(undefined);

/** Throws `invalid_request` if the bytes are too many, or no entry. */
export function decodeEntry(bytes: Uint8Array): AccessLogEntryMessage {
  if (bytes.length > MAX_BYTES) throw refused('log_entry', 'has more than 64 KiB: log fewer headers and less metadata');
  try {
    return accessLogEntry.deserialize(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
  } catch {
    throw refused('log_entry', 'cannot be read: it is no HTTPAccessLogEntry of Envoy');
  }
}

/** The call that an entry reports; null if it is about none. Throws `invalid_request` that names what is wrong. */
export function callOfEntry({ commonProperties, request, response }: AccessLogEntryMessage): EndedCall | null {
  const { metadata, accessLogType = 'NotSet' } = commonProperties ?? {};
  const { [NAMESPACE]: read, ...others } = metadata?.filterMetadata ?? {};
  const { requestId: callId = '', requestHeaders: said = {} } = request ?? {};
  const isAsked = ASKING.some((filter) => others[filter]?.fields['reservation_id'] !== undefined);
  if (!OF_ENDS.has(accessLogType) || !(read !== undefined || AGENT in said || isAsked)) return null;

  if (callId === '') throw refused('request_id', 'is missing: set generate_request_id');
  if (!(AGENT in said)) throw refused(AGENT, 'is missing: name it in additional_request_headers_to_log');
  const result = headers.safeParse(said, { error: issueMessage });
  if (!result.success) throw invalidRequest(toErrorDetails(result.error.issues.slice(0, 1)), 1);
  const { [AGENT]: agentId, 'x-tollkeeper-run': runId, 'x-tollkeeper-plan': planKey = null } = result.data;

  const valueOf = (name: string) => read?.fields[name]?.stringValue ?? read?.fields[name]?.numberValue;
  const [answered, asked] = [valueOf('response_model'), valueOf('model') ?? said['x-tollkeeper-model']];
  const responseId = valueOf('response_id');
  const code = response?.responseCode?.value ?? 0;
  const requestId = callRequestId(callId);
  return {
    ...{ requestId, agentId, runId: runId ?? requestId, planKey, provider: null, labels: {} },
    model: model.parse(answered) ?? model.parse(asked) ?? null,
    responseId: responseId === undefined ? undefined : String(responseId),
    // Without an id or a model, the answer was not read. It may have cost as much as any other.
    isAnswered: Boolean(answered ?? responseId) || (code >= 200 && code < 300),
    usage: usageOf(valueOf),
  };
}

function usageOf(valueOf: (name: string) => string | number | undefined): CallUsage {
  const usage: CallUsage = {};
  for (const [unit, field] of Object.entries(UNITS)) {
    const used = count.parse(valueOf(unit));
    if (used !== undefined) usage[field] = (usage[field] ?? 0) + used;
  }
  return usage;
}

function refused(path: string, message: string) {
  return invalidRequest([{ path, message }], 1);
}
