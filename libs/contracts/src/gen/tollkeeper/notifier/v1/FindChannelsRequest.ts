// Original file: tollkeeper/notifier/v1/notifier.proto


export interface FindChannelsRequest {
  'tenantId'?: (string);
  'channelIds'?: (string)[];
}

export interface FindChannelsRequest__Output {
  'tenantId': (string);
  'channelIds': (string)[];
}
