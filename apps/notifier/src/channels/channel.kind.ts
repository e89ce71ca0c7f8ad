import type { z } from 'zod';
import type { HttpsRequest, MailRequest } from '../domain/destination.request.ts';
import type { Message } from '../domain/message.ts';
import type { Confirmation } from './email/reader.ts';

/** Everything specific to a type of channel. `Config` and `Shown` are schemas of the API. */
export interface ChannelKind<Config extends z.ZodObject, Shown extends z.ZodObject> {
  /** Description of the type in the API documentation. */
  description: string;
  /** `config` as people write it and as it is stored, encrypted. `url` is the schema of allowed URLs. */
  config(url: z.ZodString): Config;
  /** `config` in answers, which never contain secrets. */
  shown: Shown;
  /** `confirmations` are those of the readers. */
  show(config: z.output<Config>, confirmations: readonly Confirmation[]): z.output<Shown>;
  /** The https URL that notifications go to, whose host the audit log shows; null if they go by mail. */
  address(config: z.output<Config>): string | null;
  /** The e-mail addresses that notifications go to. Each gets them once its reader has confirmed it. */
  readers?(config: z.output<Config>): readonly string[];
  /**
   * The fields of `config` that are sent as they are. A patch that moves the channel to another host must have them.
   * They are masked in answers of destinations.
   */
  credentials(config: z.output<Config>): Record<string, string>;
  /** The names of the fields of `config` in the audit log, which only records that they changed. */
  auditedAs: Record<keyof Config['shape'], string>;
  /** What delivers `message`. A signature uses `now` (epoch milliseconds). */
  request(config: z.output<Config>, message: Message, now: number): UnguardedRequest;
  /** Milliseconds to wait after each failed attempt; after the last pause and attempt, a delivery is given up. */
  retryPausesMs: readonly number[];
}

/** A request whose credentials are not marked yet, or mail, whose channel is not named yet. */
type UnguardedRequest = Omit<HttpsRequest, 'credentials'> | Omit<MailRequest, 'tenantId' | 'channelId'>;

/** Infers the type of a kind from its schemas. */
export function channelKind<Config extends z.ZodObject, Shown extends z.ZodObject>(
  kind: ChannelKind<Config, Shown>,
): ChannelKind<Config, Shown> {
  return kind;
}

/** Headers of every request to a destination. */
export const JSON_HEADERS = { 'content-type': 'application/json', 'user-agent': 'Tollkeeper' };

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
/** A bit over half an hour: the time that any destination gets to recover. */
export const SHORT_PAUSES_MS = [5 * SECOND_MS, 30 * SECOND_MS, 2 * MINUTE_MS, 10 * MINUTE_MS, 30 * MINUTE_MS];
const HOUR_MS = 60 * MINUTE_MS;
/** For destinations that need every notification, even hours later. */
export const LONG_PAUSES_MS = [...SHORT_PAUSES_MS, 2 * HOUR_MS, 5 * HOUR_MS, 10 * HOUR_MS];
