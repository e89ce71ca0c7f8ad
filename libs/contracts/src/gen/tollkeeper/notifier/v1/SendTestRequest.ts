// Original file: tollkeeper/notifier/v1/notifier.proto


export interface SendTestRequest {
  'tenantId'?: (string);
  'channelId'?: (string);
}

export interface SendTestRequest__Output {
  'tenantId': (string);
  'channelId': (string);
}
