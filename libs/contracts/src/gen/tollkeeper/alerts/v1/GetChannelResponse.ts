// Original file: tollkeeper/alerts/v1/alerts.proto

import type { Channel as _tollkeeper_alerts_v1_Channel, Channel__Output as _tollkeeper_alerts_v1_Channel__Output } from '../../../tollkeeper/alerts/v1/Channel.ts';

export interface GetChannelResponse {
  'channel'?: (_tollkeeper_alerts_v1_Channel | null);
}

export interface GetChannelResponse__Output {
  'channel': (_tollkeeper_alerts_v1_Channel__Output | null);
}
