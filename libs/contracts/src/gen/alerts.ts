import type * as grpc from '@grpc/grpc-js';
import type { MessageTypeDefinition } from '@grpc/proto-loader';

import type { AlertsServiceClient as _tollkeeper_alerts_v1_AlertsServiceClient, AlertsServiceDefinition as _tollkeeper_alerts_v1_AlertsServiceDefinition } from './tollkeeper/alerts/v1/AlertsService.ts';
import type { Channel as _tollkeeper_alerts_v1_Channel, Channel__Output as _tollkeeper_alerts_v1_Channel__Output } from './tollkeeper/alerts/v1/Channel.ts';
import type { ChatDestination as _tollkeeper_alerts_v1_ChatDestination, ChatDestination__Output as _tollkeeper_alerts_v1_ChatDestination__Output } from './tollkeeper/alerts/v1/ChatDestination.ts';
import type { GetChannelRequest as _tollkeeper_alerts_v1_GetChannelRequest, GetChannelRequest__Output as _tollkeeper_alerts_v1_GetChannelRequest__Output } from './tollkeeper/alerts/v1/GetChannelRequest.ts';
import type { GetChannelResponse as _tollkeeper_alerts_v1_GetChannelResponse, GetChannelResponse__Output as _tollkeeper_alerts_v1_GetChannelResponse__Output } from './tollkeeper/alerts/v1/GetChannelResponse.ts';
import type { WebhookDestination as _tollkeeper_alerts_v1_WebhookDestination, WebhookDestination__Output as _tollkeeper_alerts_v1_WebhookDestination__Output } from './tollkeeper/alerts/v1/WebhookDestination.ts';

type SubtypeConstructor<Constructor extends new (...args: any) => any, Subtype> = {
  new(...args: ConstructorParameters<Constructor>): Subtype;
};

export interface ProtoGrpcType {
  tollkeeper: {
    alerts: {
      v1: {
        /**
         * Where notifications go.
         */
        AlertsService: SubtypeConstructor<typeof grpc.Client, _tollkeeper_alerts_v1_AlertsServiceClient> & { service: _tollkeeper_alerts_v1_AlertsServiceDefinition }
        Channel: MessageTypeDefinition<_tollkeeper_alerts_v1_Channel, _tollkeeper_alerts_v1_Channel__Output>
        ChatDestination: MessageTypeDefinition<_tollkeeper_alerts_v1_ChatDestination, _tollkeeper_alerts_v1_ChatDestination__Output>
        GetChannelRequest: MessageTypeDefinition<_tollkeeper_alerts_v1_GetChannelRequest, _tollkeeper_alerts_v1_GetChannelRequest__Output>
        GetChannelResponse: MessageTypeDefinition<_tollkeeper_alerts_v1_GetChannelResponse, _tollkeeper_alerts_v1_GetChannelResponse__Output>
        WebhookDestination: MessageTypeDefinition<_tollkeeper_alerts_v1_WebhookDestination, _tollkeeper_alerts_v1_WebhookDestination__Output>
      }
    }
  }
}

