import { provenTenantId } from '@tollkeeper/kernel';
import { z } from 'zod';
import { identifier } from './api/primitives.ts';

const MAX_AGENT_IDS = 1000;
const SHA256_BYTES = 32;

/** The workspace that a peer has proven itself, named in a request that bears a service token. */
const tenantId = identifier.transform(provenTenantId);
// How many there are is checked first, so that a list that is too long is one problem.
const agentIds = z
  .array(z.string())
  .max(MAX_AGENT_IDS, `must have at most ${MAX_AGENT_IDS} ids`)
  .pipe(z.array(identifier));
const sha256 = z
  .instanceof(Buffer)
  .refine((bytes) => bytes.length === SHA256_BYTES, `must be a SHA-256 of ${SHA256_BYTES} bytes`);
const keyId = z.string().regex(/^[0-9A-Za-z]{16}$/, 'must be 16 characters of A-Z a-z 0-9');
const channel = z.object({ tenantId, channelId: identifier });

/** What alerts takes over gRPC, by the name of the RPC. */
export const alertsRequests = { getChannel: channel };

/** What budgets takes over gRPC. */
export const budgetsRequests = { getBudgets: z.object({ tenantId, agentIds }) };

/** What identity takes over gRPC. */
export const identityRequests = {
  resolveSession: z.object({ sessionSha256: sha256 }),
  getWorkspace: z.object({ tenantId }),
  getAgents: z.object({ tenantId, agentIds }),
};

/** What keys takes over gRPC. */
export const keysRequests = { verifyKey: z.object({ keyId, keySha256: sha256 }) };

/** What the notifier takes over gRPC. */
export const notifierRequests = { sendTest: channel };
