// Original file: envoy/type/v3/http_status.proto

export const StatusCode = {
  Empty: 'Empty',
  BadRequest: 'BadRequest',
  Unauthorized: 'Unauthorized',
  Forbidden: 'Forbidden',
  TooManyRequests: 'TooManyRequests',
  ServiceUnavailable: 'ServiceUnavailable',
} as const;

export type StatusCode =
  | 'Empty'
  | 0
  | 'BadRequest'
  | 400
  | 'Unauthorized'
  | 401
  | 'Forbidden'
  | 403
  | 'TooManyRequests'
  | 429
  | 'ServiceUnavailable'
  | 503

export type StatusCode__Output = typeof StatusCode[keyof typeof StatusCode]
