// Original file: tollkeeper/enforcer/v1/enforcer.proto


export interface GetLeaseRequest {
  'leaseId'?: (string);
}

export interface GetLeaseRequest__Output {
  'leaseId': (string);
}
