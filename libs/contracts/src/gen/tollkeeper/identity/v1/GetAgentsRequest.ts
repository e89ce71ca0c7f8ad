// Original file: tollkeeper/identity/v1/identity.proto


export interface GetAgentsRequest {
  'tenantId'?: (string);
  /**
   * At most 1000 ids; empty asks for all agents of the workspace, of which the first 10000 are answered.
   */
  'agentIds'?: (string)[];
  /**
   * Also answers their labels. Then 1 to 500 ids, so that the answer fits into a message.
   */
  'withLabels'?: (boolean);
}

export interface GetAgentsRequest__Output {
  'tenantId': (string);
  /**
   * At most 1000 ids; empty asks for all agents of the workspace, of which the first 10000 are answered.
   */
  'agentIds': (string)[];
  /**
   * Also answers their labels. Then 1 to 500 ids, so that the answer fits into a message.
   */
  'withLabels': (boolean);
}
