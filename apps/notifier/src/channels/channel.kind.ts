import type { z } from 'zod';
import type { DestinationRequest } from '../domain/destination.request.ts';
import type { Message } from '../domain/message.ts';

/** All that is particular to a type of channels. `Config` and `Shown` are schemas of the API. */
export interface ChannelKind<Config extends z.ZodObject, Shown extends z.ZodObject> {
  /** What it is, for the documentation of the API. */
  description: string;
  /** `config` as people write it, and as it is stored, sealed. `url` is the schema of an address that is allowed. */
  config(url: z.ZodString): Config;
  /** `config` in answers: secrets are written, never read. */
  shown: Shown;
  show(config: z.output<Config>): z.output<Shown>;
  /** The https URL that notifications go to. The audit log tells its host. */
  address(config: z.output<Config>): string;
  /** What the audit log calls the fields of `config`. It tells that they changed, and no more. */
  auditedAs: Record<keyof Config['shape'], string>;
  /** The request that delivers `message`. What is signed is signed at `now` (epoch milliseconds). */
  request(config: z.output<Config>, message: Message, now: number): DestinationRequest;
  /** Milliseconds to wait after each failed attempt; after the last of them a delivery is given up. */
  retryPausesMs: readonly number[];
}

/** Types a kind by its own schemas. */
export function channelKind<Config extends z.ZodObject, Shown extends z.ZodObject>(
  kind: ChannelKind<Config, Shown>,
): ChannelKind<Config, Shown> {
  return kind;
}

/** What every request to a destination has. */
export const JSON_HEADERS = { 'content-type': 'application/json', 'user-agent': 'Tollkeeper' };

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
/** Half an hour and a bit: what every destination gets to recover. */
export const SHORT_PAUSES_MS = [5 * SECOND_MS, 30 * SECOND_MS, 2 * MINUTE_MS, 10 * MINUTE_MS, 30 * MINUTE_MS];
