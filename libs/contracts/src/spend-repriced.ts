import { z } from 'zod';
import { identifier, micros, planKey } from './api/primitives.ts';
import { modelName, priceId, providerName, settlementId } from './spend-settled.ts';

const utcTimestamp = z.string().regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);

/**
 * Corrects the amount of a settlement after prices changed. Only Tollkeeper writes it: gateways cannot report it. The
 * time of the event and the facts about the call are those of the settlement, so it counts wherever that counted. Of
 * several corrections of a settlement, the latest in the log is right.
 */
export const spendRepricedData = z.object({
  settlement_id: settlementId,
  run_id: identifier,
  agent_id: identifier,
  plan_key: planKey.optional(),
  model: modelName.optional(),
  provider: providerName.optional(),
  labels: z.record(z.string(), z.string()).optional(),
  /** What the settlement counted before. */
  from_micros: micros,
  to_micros: micros,
  from_priced_by: z.string(),
  priced_by: z.string(),
  price_id: priceId,
  price_version: identifier.optional(),
  corrected_at: utcTimestamp,
  /** The labels by which figures count the settlement, joined by commas. */
  tracked: z.string().optional(),
});
