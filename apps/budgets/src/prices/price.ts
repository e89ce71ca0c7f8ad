import type { AuditedFields, Cause } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';
import { REPORTED_KINDS, type ReportedKind } from '@tollkeeper/prices';

/** USD micros for a million tokens, by kind. */
export type MicrosPerMillion = Readonly<Partial<Record<ReportedKind, number>>>;

/** What an owner sets for a model. */
export interface PriceDraft {
  /** Null for calls of any provider. */
  provider: string | null;
  model: string;
  validFrom: Date;
  /** Empty: from then on, the table counts again. */
  microsPerMillion: MicrosPerMillion;
}

/** A price of a workspace. It is never changed; a later one of the same provider and model ends it. */
export interface OwnPrice extends PriceDraft {
  id: string;
  /** Counts those of the workspace, in the order in which they were set. */
  number: number;
  createdAt: Date;
  /** Id of the user. */
  createdBy: string;
}

/** With the time at which it ends; null while no later one is set. A price that was corrected ends when it begins. */
export type ListedPrice = OwnPrice & { validTo: Date | null };

/** Most prices of a workspace, also those that no longer count. Bounds what each process of ingest keeps. */
export const MAX_PRICES = 1_000;
/** 10,000 USD, as in the table. With it, a price in another unit is refused. */
export const MAX_MICROS_PER_MILLION = 10_000_000_000;

/** How the API names the price of each kind of tokens. */
export const FIELD_OF_KIND = {
  input: 'input_micros_per_million',
  cache_read: 'cached_input_micros_per_million',
  cache_write: 'cache_write_micros_per_million',
  cache_write_1h: 'cache_write_1h_micros_per_million',
  output: 'output_micros_per_million',
  reasoning: 'reasoning_micros_per_million',
} as const satisfies Record<ReportedKind, string>;

/** The fields of a price that the audit log records. */
export const AUDITED_PRICE: AuditedFields<PriceDraft> = {
  provider: ({ provider }) => provider,
  model: ({ model }) => model,
  valid_from: ({ validFrom }) => validFrom.toISOString(),
  ...Object.fromEntries(
    REPORTED_KINDS.map((kind) => [
      FIELD_OF_KIND[kind],
      ({ microsPerMillion }: PriceDraft) => microsPerMillion[kind] ?? null,
    ]),
  ),
};

/** Stores the prices of workspaces. No method finds one of another workspace. */
export interface PriceStore {
  /** Those after this number, in order. */
  list(tenantId: TenantId, part: { after: number; limit: number }): Promise<OwnPrice[]>;
  /**
   * Adds the price, with its audit record in the same transaction. If the last one of the same model and time has the
   * same prices, nothing is added, and that one is returned. Rejects with `invalid_request` if it ends no price, and
   * with `conflict` if the workspace has {@link MAX_PRICES}.
   */
  add(tenantId: TenantId, draft: PriceDraft, cause: Cause): Promise<OwnPrice>;
}
