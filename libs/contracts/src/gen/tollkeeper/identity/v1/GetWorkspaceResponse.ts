// Original file: tollkeeper/identity/v1/identity.proto

import type { Workspace as _tollkeeper_identity_v1_Workspace, Workspace__Output as _tollkeeper_identity_v1_Workspace__Output } from '../../../tollkeeper/identity/v1/Workspace.ts';

export interface GetWorkspaceResponse {
  'workspace'?: (_tollkeeper_identity_v1_Workspace | null);
}

export interface GetWorkspaceResponse__Output {
  'workspace': (_tollkeeper_identity_v1_Workspace__Output | null);
}
