import { createHash } from 'node:crypto';
import { IDENTIFIER } from '@tollkeeper/kernel';

/** Shortest response id, without its prefix, that is taken for unique: those of local servers only count up. */
const MIN_RESPONSE_ID = 20;
/** A prefix such as `chatcmpl-` ends within the first characters. */
const MAX_PREFIX = 10;

const OF_RESPONSE = 'rsp:';

/** The `request_id` of the reservation for a call of a gateway, by the gateway's id of the call. */
export function callRequestId(callId: string): string {
  const id = `call:${callId}`;
  return IDENTIFIER.test(id) ? id : `call:${sha256(callId)}`;
}

/**
 * The settlement id of a call by the provider's response id, which all reporters of the call know. Undefined if the id
 * is too short to be unique.
 */
export function responseSettlementId(responseId: string): string | undefined {
  const separator = responseId.search(/[-_]/);
  const own = separator >= 0 && separator < MAX_PREFIX ? responseId.slice(separator + 1) : responseId;
  return own.length >= MIN_RESPONSE_ID ? `${OF_RESPONSE}${sha256(responseId)}` : undefined;
}

/** Whether a settlement id is that of an answer of a model. */
export function isOfResponse(settlementId: string): boolean {
  return settlementId.startsWith(OF_RESPONSE);
}

/** 32 hexadecimal digits. */
function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
