// Original file: envoy/service/auth/v3/external_auth.proto

import type { Status as _google_rpc_Status, Status__Output as _google_rpc_Status__Output } from '../../../../google/rpc/Status.ts';
import type { DeniedHttpResponse as _envoy_service_auth_v3_DeniedHttpResponse, DeniedHttpResponse__Output as _envoy_service_auth_v3_DeniedHttpResponse__Output } from '../../../../envoy/service/auth/v3/DeniedHttpResponse.ts';
import type { OkHttpResponse as _envoy_service_auth_v3_OkHttpResponse, OkHttpResponse__Output as _envoy_service_auth_v3_OkHttpResponse__Output } from '../../../../envoy/service/auth/v3/OkHttpResponse.ts';
import type { Struct as _google_protobuf_Struct, Struct__Output as _google_protobuf_Struct__Output } from '../../../../google/protobuf/Struct.ts';

export interface CheckResponse {
  'status'?: (_google_rpc_Status | null);
  'deniedResponse'?: (_envoy_service_auth_v3_DeniedHttpResponse | null);
  'okResponse'?: (_envoy_service_auth_v3_OkHttpResponse | null);
  'dynamicMetadata'?: (_google_protobuf_Struct | null);
  'httpResponse'?: "deniedResponse"|"okResponse";
}

export interface CheckResponse__Output {
  'status': (_google_rpc_Status__Output | null);
  'deniedResponse'?: (_envoy_service_auth_v3_DeniedHttpResponse__Output | null);
  'okResponse'?: (_envoy_service_auth_v3_OkHttpResponse__Output | null);
  'dynamicMetadata': (_google_protobuf_Struct__Output | null);
  'httpResponse'?: "deniedResponse"|"okResponse";
}
