// Original file: tollkeeper/identity/v1/identity.proto


export interface Agent {
  'agentId'?: (string);
  /**
   * What people call the agent; the `agent_id` where nobody gave it a name.
   */
  'displayName'?: (string);
  /**
   * The labels of every call of the agent, at most 10, if they were asked for.
   */
  'labels'?: ({[key: string]: string});
}

export interface Agent__Output {
  'agentId': (string);
  /**
   * What people call the agent; the `agent_id` where nobody gave it a name.
   */
  'displayName': (string);
  /**
   * The labels of every call of the agent, at most 10, if they were asked for.
   */
  'labels': ({[key: string]: string});
}
