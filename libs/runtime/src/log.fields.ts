/**
 * All fields of log lines: each has one name, in every service. Times and durations are named by their unit. A line
 * also has `time`, `level`, `service` and `msg`, and `trace_id` and `span_id` while a span is active.
 */
export interface LogFields {
  /** The error; written as type, message, code, stack and cause. Outages are written without stacks. */
  err?: unknown;
  /** The reason as a word or a sentence, if nothing was thrown. */
  reason?: string | null | undefined;

  request_id?: string;
  tenant_id?: string | undefined;
  user_id?: string | undefined;
  workspace_slug?: string;
  channel_id?: string;
  notification_id?: string;
  delivery_status?: string;
  repricing_id?: string;
  /** Kind and period of a scheduled export. */
  schedule?: string;

  /** A request; written as method and path, without its query. */
  req?: { method?: string | undefined; url?: string | undefined };
  method?: string | undefined;
  path?: string | undefined;
  /** Area of the API, as the gateway divides it. */
  area?: string;
  /** The operation of the OpenAPI document. */
  route?: string;
  /** Full name of the gRPC method. */
  rpc?: string;
  /** HTTP status of our answer. */
  status?: number;
  /** HTTP status of a destination's answer. */
  response_status?: number | null | undefined;
  aborted?: boolean;
  client_address?: string;
  /** Id of an OpenID Connect provider. */
  provider?: string;
  /** The called service. */
  upstream?: string;
  /** From a request to its answer. */
  ms?: number;

  topic?: string;
  /** Consumer group. */
  group?: string;
  /** Member of a consumer group. */
  member?: string;
  partition?: number;
  partitions?: readonly number[];
  /** Position of a record or a group in a partition. */
  offset?: number | null | undefined;
  from_offset?: number | null;
  first_offset?: number;
  next_offset?: number;
  end_offset?: number;
  /** Number of records. */
  records?: number;
  skipped?: number;
  broker?: string;
  /** Free bytes on a disk. */
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
