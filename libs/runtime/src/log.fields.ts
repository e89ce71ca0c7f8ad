/**
 * All that a line of the log can be about: each thing has one name, in every service. Times and durations are named by
 * their unit. Beside these a line has `time`, `level`, `service` and `msg`, and `trace_id` and `span_id` while a span
 * is active.
 */
export interface LogFields {
  /** What was thrown; written as type, message, code, stack and cause. Of an outage, without the stacks. */
  err?: unknown;
  /** Why, as a word or a sentence, where nothing was thrown. */
  reason?: string | null | undefined;

  request_id?: string;
  tenant_id?: string | undefined;
  user_id?: string | undefined;
  workspace_slug?: string;
  channel_id?: string;
  notification_id?: string;
  delivery_status?: string;

  /** A request; written as method and path, without its query. */
  req?: { method?: string | undefined; url?: string | undefined };
  method?: string | undefined;
  path?: string | undefined;
  /** Of the API, as the gateway divides it. */
  area?: string;
  /** The operation of the OpenAPI document. */
  route?: string;
  /** Full name of the gRPC method. */
  rpc?: string;
  /** HTTP status of an answer of ours. */
  status?: number;
  /** HTTP status that a destination answered with. */
  response_status?: number | null | undefined;
  aborted?: boolean;
  client_address?: string;
  /** Id of an OpenID Connect provider. */
  provider?: string;
  /** The service that was asked. */
  upstream?: string;
  /** From a request to its answer. */
  ms?: number;

  topic?: string;
  /** Consumer group. */
  group?: string;
  /** Of a consumer group. */
  member?: string;
  partition?: number;
  partitions?: readonly number[];
  /** Position of a record or a group in a partition. */
  offset?: number | null | undefined;
  from_offset?: number | null;
  first_offset?: number;
  next_offset?: number;
  end_offset?: number;
  /** How many. */
  records?: number;
  skipped?: number;
  broker?: string;
  /** Room on a disk. */
  free_bytes?: number;
  retention_ms?: number;
  silence_ms?: number;

  attempts?: number;
  failures?: number;
  retry_ms?: number;
  seconds?: number;
  stop_timeout_ms?: number;

  /** A part of the process. */
  component?: string;
  library?: string;
  database?: string;
  metric?: string;
  signal?: string;
  spans?: number;
  timezone?: string;
  version?: string;
}
