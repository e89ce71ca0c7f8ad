import { invalidRequest, issueMessage, toErrorDetails } from '@tollkeeper/contracts';
import type { z } from 'zod';

/** What `schema` makes of a request. Throws `invalid_request` that names its fields as the proto file does. */
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
