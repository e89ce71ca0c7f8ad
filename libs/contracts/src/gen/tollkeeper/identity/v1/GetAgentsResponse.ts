// Original file: tollkeeper/identity/v1/identity.proto

import type { Agent as _tollkeeper_identity_v1_Agent, Agent__Output as _tollkeeper_identity_v1_Agent__Output } from '../../../tollkeeper/identity/v1/Agent.ts';

export interface GetAgentsResponse {
  'agents'?: (_tollkeeper_identity_v1_Agent)[];
}

export interface GetAgentsResponse__Output {
  'agents': (_tollkeeper_identity_v1_Agent__Output)[];
}
