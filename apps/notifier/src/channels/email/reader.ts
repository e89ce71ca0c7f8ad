import type { Cause } from '@tollkeeper/contracts';
import { digestOf, type TenantId } from '@tollkeeper/kernel';

/** An address is asked by mail; it gets alerts once it is `confirmed`, and none any more once it is `stopped`. */
export const CONFIRMATION_STATES = ['queued', 'asked', 'expired', 'unsent', 'confirmed', 'stopped'] as const;
type ConfirmationState = (typeof CONFIRMATION_STATES)[number];

/** What the reader of an address said. */
export interface Confirmation {
  address: string;
  state: ConfirmationState;
  /** When the last mail with a link was sent. */
  askedAt: Date | null;
}

/** Who reads the mail of a channel at one address. The address is only in the configuration of the channel. */
export interface Reader {
  id: string;
  tenantId: TenantId;
  channelId: string;
  /** See {@link keyOf}. */
  addressKey: string;
  answer: 'none' | 'confirmed' | 'stopped';
}

/** A mail that asks a reader to confirm the address. */
export interface ConfirmationOrder {
  reader: Reader;
  /** Whether the limits have counted it. Further attempts to send it do not count. */
  isCounted: boolean;
}

/** The mail that asks a reader is sent at most this long after it was ordered. */
export const GIVE_UP_MS = 86_400_000;
/** How long the link in that mail works. */
export const LINK_MS = 7 * 86_400_000;

/** Readers and their answers. Links of mails name no workspace, so a reader is found by a proof of the link alone. */
export interface ReaderStore {
  /** The confirmations of these addresses, in their order. */
  confirmations(tenantId: TenantId, channelId: string, addresses: readonly string[]): Promise<Confirmation[]>;
  /** The readers among these addresses who have confirmed. */
  confirmed(tenantId: TenantId, channelId: string, addresses: readonly string[]): Promise<ConfirmedReader[]>;
  /**
   * Orders another mail to an address that is not confirmed, and records it in the audit log. Returns the answer of its
   * reader; null if the channel has no such reader.
   */
  ask(channel: NamedChannel, address: string, cause: Cause): Promise<Reader['answer'] | null>;
  /** The reader with an unexpired, unused link. */
  findAsked(sha256: string): Promise<Reader | null>;
  find(readerId: string): Promise<Reader | null>;
  /**
   * Stores the answer of a reader, and records it for `channel` in the audit log. With `sha256`, uses up the link, and
   * returns false if it is used or expired. The address then is confirmed again only by its reader.
   */
  answer(reader: Reader, by: ReaderAnswer): Promise<boolean>;
}

/** The part of a channel that its readers' records need. */
export interface NamedChannel {
  id: string;
  tenantId: TenantId;
  name: string | null;
}

export interface ReaderAnswer {
  answer: 'confirmed' | 'stopped';
  /** Digest of the used link, for the link that confirms an address. */
  sha256: string | null;
  address: string;
  channel: NamedChannel;
  cause: Cause;
}

export interface ConfirmedReader {
  id: string;
  address: string;
}

/** Identifies an address in the store without naming it. */
export function keyOf(address: string): string {
  return digestOf(address);
}
