// Original file: tollkeeper/keys/v1/keys.proto

import type { KeyRole as _tollkeeper_keys_v1_KeyRole, KeyRole__Output as _tollkeeper_keys_v1_KeyRole__Output } from '../../../tollkeeper/keys/v1/KeyRole.ts';
import type { ReportMapping as _tollkeeper_keys_v1_ReportMapping, ReportMapping__Output as _tollkeeper_keys_v1_ReportMapping__Output } from '../../../tollkeeper/keys/v1/ReportMapping.ts';

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
  /**
   * How reports of calls that come with the key are read. Absent: as without a mapping.
   */
  'reports'?: (_tollkeeper_keys_v1_ReportMapping | null);
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
  /**
   * How reports of calls that come with the key are read. Absent: as without a mapping.
   */
  'reports': (_tollkeeper_keys_v1_ReportMapping__Output | null);
}
