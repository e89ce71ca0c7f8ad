// Original file: tollkeeper/alerts/v1/alerts.proto


export interface GetChannelRequest {
  'tenantId'?: (string);
  'channelId'?: (string);
}

export interface GetChannelRequest__Output {
  'tenantId': (string);
  'channelId': (string);
}
