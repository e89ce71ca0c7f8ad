// Original file: tollkeeper/identity/v1/identity.proto


export interface RegisterAgentsRequest {
  'tenantId'?: (string);
  /**
   * 1 to 1000 ids.
   */
  'agentIds'?: (string)[];
}

export interface RegisterAgentsRequest__Output {
  'tenantId': (string);
  /**
   * 1 to 1000 ids.
   */
  'agentIds': (string)[];
}
