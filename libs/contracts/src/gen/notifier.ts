import type * as grpc from '@grpc/grpc-js';
import type { MessageTypeDefinition } from '@grpc/proto-loader';

import type { Channel as _tollkeeper_notifier_v1_Channel, Channel__Output as _tollkeeper_notifier_v1_Channel__Output } from './tollkeeper/notifier/v1/Channel.ts';
import type { FindChannelsRequest as _tollkeeper_notifier_v1_FindChannelsRequest, FindChannelsRequest__Output as _tollkeeper_notifier_v1_FindChannelsRequest__Output } from './tollkeeper/notifier/v1/FindChannelsRequest.ts';
import type { FindChannelsResponse as _tollkeeper_notifier_v1_FindChannelsResponse, FindChannelsResponse__Output as _tollkeeper_notifier_v1_FindChannelsResponse__Output } from './tollkeeper/notifier/v1/FindChannelsResponse.ts';
import type { NotifierServiceClient as _tollkeeper_notifier_v1_NotifierServiceClient, NotifierServiceDefinition as _tollkeeper_notifier_v1_NotifierServiceDefinition } from './tollkeeper/notifier/v1/NotifierService.ts';

type SubtypeConstructor<Constructor extends new (...args: any) => any, Subtype> = {
  new(...args: ConstructorParameters<Constructor>): Subtype;
};

export interface ProtoGrpcType {
  tollkeeper: {
    notifier: {
      v1: {
        Channel: MessageTypeDefinition<_tollkeeper_notifier_v1_Channel, _tollkeeper_notifier_v1_Channel__Output>
        FindChannelsRequest: MessageTypeDefinition<_tollkeeper_notifier_v1_FindChannelsRequest, _tollkeeper_notifier_v1_FindChannelsRequest__Output>
        FindChannelsResponse: MessageTypeDefinition<_tollkeeper_notifier_v1_FindChannelsResponse, _tollkeeper_notifier_v1_FindChannelsResponse__Output>
        /**
         * What other services may know of channels: never where they lead.
         */
        NotifierService: SubtypeConstructor<typeof grpc.Client, _tollkeeper_notifier_v1_NotifierServiceClient> & { service: _tollkeeper_notifier_v1_NotifierServiceDefinition }
      }
    }
  }
}

