// Original file: tollkeeper/identity/v1/identity.proto


export interface GetWorkspaceRequest {
  'tenantId'?: (string);
}

export interface GetWorkspaceRequest__Output {
  'tenantId': (string);
}
