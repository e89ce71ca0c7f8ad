// Original file: tollkeeper/enforcer/v1/enforcer.proto


export interface ReturnLeaseRequest {
  'leaseId'?: (string);
}

export interface ReturnLeaseRequest__Output {
  'leaseId': (string);
}
