import {
  identifier,
  LEASE_TTL_SECONDS,
  labels,
  leasedAmount,
  leaseTtlSeconds,
  leastLease,
  MAX_LEASE_SETTLEMENTS,
  micros,
  MIN_ABOVE_AMOUNT,
  modelName,
  moment,
  planKey,
  providerName,
  settlementId,
  timestamp,
  tokens,
} from '@tollkeeper/contracts';
import { z } from 'zod';
import { type Lease, LEASE_STATES, SETTLEMENT_OUTCOMES } from '../domain/lease.ts';
import { denialSchema, limitRow, toMoment } from './schemas.ts';

export const leaseState = z.enum(LEASE_STATES).meta({
  description: '`open → returned | expired`. Once a lease has ended, its settlements are late',
});

export const leaseSchema = z
  .object({
    id: z.string().meta({ example: 'lse_4fGh1Jk2Lm3Np4Qr5St6' }),
    request_id: identifier.meta({ example: 'lease-2' }),
    agent_id: identifier,
    plan_key: planKey.nullable(),
    amount_micros: micros.meta({ description: 'USD micros that it was granted in all' }),
    settled_micros: micros.meta({ description: 'USD micros settled while it was open, also beyond its amount' }),
    left_micros: micros.meta({ description: 'USD micros that it still holds; 0 once it has ended' }),
    state: leaseState,
    created_at: moment,
    expires_at: moment.meta({ description: 'When it ends, unless it is renewed or returned' }),
    expires_in_ms: z.int().min(0).meta({
      description:
        'Milliseconds until it ends, as of this answer, for callers without the same clock. 0 once it has ended',
    }),
    model: modelName.nullable(),
    provider: providerName.nullable(),
    labels: z
      .record(z.string(), z.string())
      .meta({ description: 'Those of the workspace key and the agent at that time, and of the request' }),
  })
  .meta({ id: 'Lease' });

export const leaseParams = z.object({
  lease_id: identifier.meta({ description: 'Id of the lease', example: 'lse_4fGh1Jk2Lm3Np4Qr5St6' }),
});

const ttl = leaseTtlSeconds.default(LEASE_TTL_SECONDS.default);

export const grantBody = z
  .strictObject({
    request_id: identifier.meta({ description: 'Chosen by the gateway, unique for each lease', example: 'lease-2' }),
    agent_id: identifier,
    plan_key: planKey.optional().meta({ description: 'The plan of the calls' }),
    amount_micros: leasedAmount,
    min_micros: leastLease,
    ttl_seconds: ttl,
    run_id: identifier.optional().meta({ description: 'The run of the call at hand, for the report of a denial' }),
    model: modelName.optional().meta({ description: 'The model of all of its calls, if it is known' }),
    provider: providerName.optional().meta({ description: 'The provider of the model, if it is known' }),
    labels: labels.default({}),
  })
  .refine(({ min_micros: least, amount_micros: most }) => least <= most, {
    path: ['min_micros'],
    error: MIN_ABOVE_AMOUNT,
  });

const settlement = z.strictObject({
  settlement_id: settlementId.meta({ example: 'settlement-2' }),
  run_id: identifier.meta({ example: 'run-2' }),
  amount_micros: micros.meta({ description: 'Cost of the call in USD micros' }),
  occurred_at: timestamp.optional().meta({
    description:
      'When the call was made; now if it is absent. A time before the lease or after now is moved into it. The spend counts in the day of the lease',
  }),
  model: modelName.optional(),
  provider: providerName.optional(),
  input_tokens: tokens.optional(),
  output_tokens: tokens.optional(),
});

export const settleBody = z.strictObject({ settlements: z.array(settlement).min(1).max(MAX_LEASE_SETTLEMENTS) });

export const renewBody = z.strictObject({
  request_id: identifier.meta({
    description: 'Chosen by the gateway, unique for each renewal of the lease',
    example: 'renewal-1',
  }),
  amount_micros: micros.meta({ description: 'USD micros that the gateway wishes for in all, with what is used' }),
  ttl_seconds: ttl,
});

const limits = z.array(limitRow).meta({ description: 'One for each limit that applies; empty when none is set' });

export const grantedLease = z
  .object({ decision: z.literal('allowed'), lease: leaseSchema, limits })
  .meta({ id: 'GrantedLease' });
export const deniedLease = z
  .object({ decision: z.literal('denied'), denial: denialSchema, limits })
  .meta({ id: 'DeniedLease' });

const settlementResult = z.object({
  settlement_id: settlementId,
  outcome: z.enum(SETTLEMENT_OUTCOMES).meta({
    description:
      '`settled` from the lease; `late` after it had ended; `unreserved`: an event has reported it before without the lease; `conflict`: its id is the one of a settlement of a reservation or of another lease, so nothing is counted. A repeated settlement has the same outcome',
  }),
  amount_micros: micros.meta({ description: 'USD micros that are counted under its id: the first amount stays' }),
});

export const settledLease = z
  .object({
    lease: leaseSchema,
    results: z.array(settlementResult).meta({ description: 'One for each settlement, in their order' }),
  })
  .meta({ id: 'SettledLease' });

export const leasePage = z.object({
  items: z.array(leaseSchema).meta({ description: 'Newest first' }),
  next_cursor: z.string().nullable().meta({ description: 'The `cursor` of the next page; null on the last page' }),
});

export function toLeaseBody(lease: Lease): z.output<typeof leaseSchema> {
  return {
    id: lease.id,
    request_id: lease.requestId,
    agent_id: lease.agentId,
    plan_key: lease.planKey,
    amount_micros: lease.amountMicros,
    settled_micros: lease.settledMicros,
    left_micros: lease.leftMicros,
    state: lease.state,
    created_at: toMoment(lease.createdAt),
    expires_at: toMoment(lease.expiresAt),
    expires_in_ms: lease.expiresInMs,
    model: lease.model,
    provider: lease.provider,
    labels: lease.labels,
  };
}
