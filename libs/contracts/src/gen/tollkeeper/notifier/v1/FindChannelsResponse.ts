// Original file: tollkeeper/notifier/v1/notifier.proto

import type { Channel as _tollkeeper_notifier_v1_Channel, Channel__Output as _tollkeeper_notifier_v1_Channel__Output } from '../../../tollkeeper/notifier/v1/Channel.ts';

export interface FindChannelsResponse {
  'channels'?: (_tollkeeper_notifier_v1_Channel)[];
}

export interface FindChannelsResponse__Output {
  'channels': (_tollkeeper_notifier_v1_Channel__Output)[];
}
