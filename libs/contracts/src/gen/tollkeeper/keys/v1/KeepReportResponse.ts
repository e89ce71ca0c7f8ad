// Original file: tollkeeper/keys/v1/keys.proto


export interface KeepReportResponse {
}

export interface KeepReportResponse__Output {
}
