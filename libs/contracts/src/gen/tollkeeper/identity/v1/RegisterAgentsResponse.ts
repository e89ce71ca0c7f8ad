// Original file: tollkeeper/identity/v1/identity.proto


export interface RegisterAgentsResponse {
}

export interface RegisterAgentsResponse__Output {
}
