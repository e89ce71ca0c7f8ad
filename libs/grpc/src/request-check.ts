import { invalidRequest, issueMessage, toErrorDetails } from '@tollkeeper/contracts';
import type { z } from 'zod';

/** Validates a request with `schema`. Throws `invalid_request` with field names as in the proto file. */
export function checkRequest<Request>(schema: z.ZodType<Request>, request: unknown): Request {
  const result = schema.safeParse(request, { error: issueMessage });
  if (result.success) return result.data;
  const { issues } = result.error;
  const details = toErrorDetails(issues).map(({ path, message }) => ({ path: toProtoName(path), message }));
  throw invalidRequest(details, issues.length);
}

/** `agentIds[3]` → `agent_ids[3]`. */
function toProtoName(path: string): string {
  return path.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
