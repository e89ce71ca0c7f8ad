import type { CallOrigin, NamedFact, SenderCost } from '@tollkeeper/call-facts';
import type { CallFlag } from '@tollkeeper/contracts';
import type { TokenKinds } from '@tollkeeper/prices';
import type { CallIdentity } from './identity.ts';

/** A call of a model, as its sender reports it. */
export interface CallRecord extends CallIdentity, CallOrigin {
  responseModel: string | undefined;
  requestModel: string | undefined;
  tokens: TokenKinds | undefined;
  /** Undefined for the usual one. */
  serviceTier: string | undefined;
  /** What the sender says that the call cost; undefined if it does not know. */
  cost: SenderCost | undefined;
  flags: readonly CallFlag[];
  outcome: CallOutcome;
}

/** `spent`: has tokens or a cost. The others have neither. `denied`: by Tollkeeper, which knows it. */
export type CallOutcome = 'spent' | 'failed' | 'denied' | 'no_usage' | 'client_gone';

/** A call that a guard of the sender blocked. */
export interface GuardBlock extends CallOrigin {
  /** The same for all reports of the block that know the gateway's id of the call. */
  id: string;
  guard: string;
}

/** What the records of a body say. */
export interface Reading {
  calls: readonly CallRecord[];
  /** Of the first calls, as many as are explained: what was read, and by which names. */
  facts: readonly (readonly NamedFact[])[];
  blocks: readonly GuardBlock[];
  /** Number of records that are no calls, by the reason. */
  notCalls: ReadonlyMap<string, number>;
  /** Number of calls that name what cannot be the key of a plan. They are taken without one. */
  invalidPlans: number;
  /** Sentences for the sender about calls that were taken otherwise than it may expect. */
  notices: readonly string[];
}
