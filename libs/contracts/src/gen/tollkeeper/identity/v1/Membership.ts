// Original file: tollkeeper/identity/v1/identity.proto

import type { WorkspaceRole as _tollkeeper_identity_v1_WorkspaceRole, WorkspaceRole__Output as _tollkeeper_identity_v1_WorkspaceRole__Output } from '../../../tollkeeper/identity/v1/WorkspaceRole.ts';

export interface Membership {
  'tenantId'?: (string);
  'slug'?: (string);
  'role'?: (_tollkeeper_identity_v1_WorkspaceRole);
}

export interface Membership__Output {
  'tenantId': (string);
  'slug': (string);
  'role': (_tollkeeper_identity_v1_WorkspaceRole__Output);
}
