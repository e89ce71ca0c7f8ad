import type * as grpc from '@grpc/grpc-js';
import type { MessageTypeDefinition } from '@grpc/proto-loader';

import type { NotifierServiceClient as _tollkeeper_notifier_v1_NotifierServiceClient, NotifierServiceDefinition as _tollkeeper_notifier_v1_NotifierServiceDefinition } from './tollkeeper/notifier/v1/NotifierService.ts';
import type { SendTestRequest as _tollkeeper_notifier_v1_SendTestRequest, SendTestRequest__Output as _tollkeeper_notifier_v1_SendTestRequest__Output } from './tollkeeper/notifier/v1/SendTestRequest.ts';
import type { SendTestResponse as _tollkeeper_notifier_v1_SendTestResponse, SendTestResponse__Output as _tollkeeper_notifier_v1_SendTestResponse__Output } from './tollkeeper/notifier/v1/SendTestResponse.ts';

type SubtypeConstructor<Constructor extends new (...args: any) => any, Subtype> = {
  new(...args: ConstructorParameters<Constructor>): Subtype;
};

export interface ProtoGrpcType {
  tollkeeper: {
    notifier: {
      v1: {
        /**
         * What people can ask of delivery beside the log.
         */
        NotifierService: SubtypeConstructor<typeof grpc.Client, _tollkeeper_notifier_v1_NotifierServiceClient> & { service: _tollkeeper_notifier_v1_NotifierServiceDefinition }
        SendTestRequest: MessageTypeDefinition<_tollkeeper_notifier_v1_SendTestRequest, _tollkeeper_notifier_v1_SendTestRequest__Output>
        SendTestResponse: MessageTypeDefinition<_tollkeeper_notifier_v1_SendTestResponse, _tollkeeper_notifier_v1_SendTestResponse__Output>
      }
    }
  }
}

