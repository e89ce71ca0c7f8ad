// Original file: envoy/data/accesslog/v3/accesslog.proto

/**
 * When an entry was written. There are others.
 */
export const AccessLogType = {
  NotSet: 'NotSet',
  /**
   * The request has ended.
   */
  DownstreamEnd: 'DownstreamEnd',
} as const;

/**
 * When an entry was written. There are others.
 */
export type AccessLogType =
  | 'NotSet'
  | 0
  /**
   * The request has ended.
   */
  | 'DownstreamEnd'
  | 6

/**
 * When an entry was written. There are others.
 */
export type AccessLogType__Output = typeof AccessLogType[keyof typeof AccessLogType]
