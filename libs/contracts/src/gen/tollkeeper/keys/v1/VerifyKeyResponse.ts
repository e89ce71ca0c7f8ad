// Original file: tollkeeper/keys/v1/keys.proto

import type { KeyRole as _tollkeeper_keys_v1_KeyRole, KeyRole__Output as _tollkeeper_keys_v1_KeyRole__Output } from '../../../tollkeeper/keys/v1/KeyRole.ts';

export interface VerifyKeyResponse {
  /**
   * The workspace that the key belongs to.
   */
  'tenantId'?: (string);
  'role'?: (_tollkeeper_keys_v1_KeyRole);
  /**
   * The labels that the key pins to every call; at most 10.
   */
  'labels'?: ({[key: string]: string});
  /**
   * Whether somebody waits to see the reports of the workspace: then callers send them by KeepReport.
   */
  'watched'?: (boolean);
}

export interface VerifyKeyResponse__Output {
  /**
   * The workspace that the key belongs to.
   */
  'tenantId': (string);
  'role': (_tollkeeper_keys_v1_KeyRole__Output);
  /**
   * The labels that the key pins to every call; at most 10.
   */
  'labels': ({[key: string]: string});
  /**
   * Whether somebody waits to see the reports of the workspace: then callers send them by KeepReport.
   */
  'watched': (boolean);
}
