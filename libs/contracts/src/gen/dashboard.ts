import type * as grpc from '@grpc/grpc-js';
import type { MessageTypeDefinition } from '@grpc/proto-loader';

import type { DashboardServiceClient as _tollkeeper_dashboard_v1_DashboardServiceClient, DashboardServiceDefinition as _tollkeeper_dashboard_v1_DashboardServiceDefinition } from './tollkeeper/dashboard/v1/DashboardService.ts';
import type { ListSettlementsRequest as _tollkeeper_dashboard_v1_ListSettlementsRequest, ListSettlementsRequest__Output as _tollkeeper_dashboard_v1_ListSettlementsRequest__Output } from './tollkeeper/dashboard/v1/ListSettlementsRequest.ts';
import type { ListSettlementsResponse as _tollkeeper_dashboard_v1_ListSettlementsResponse, ListSettlementsResponse__Output as _tollkeeper_dashboard_v1_ListSettlementsResponse__Output } from './tollkeeper/dashboard/v1/ListSettlementsResponse.ts';
import type { Settlement as _tollkeeper_dashboard_v1_Settlement, Settlement__Output as _tollkeeper_dashboard_v1_Settlement__Output } from './tollkeeper/dashboard/v1/Settlement.ts';

type SubtypeConstructor<Constructor extends new (...args: any) => any, Subtype> = {
  new(...args: ConstructorParameters<Constructor>): Subtype;
};

export interface ProtoGrpcType {
  tollkeeper: {
    dashboard: {
      v1: {
        /**
         * The read side of stored events, for services that count them again.
         */
        DashboardService: SubtypeConstructor<typeof grpc.Client, _tollkeeper_dashboard_v1_DashboardServiceClient> & { service: _tollkeeper_dashboard_v1_DashboardServiceDefinition }
        ListSettlementsRequest: MessageTypeDefinition<_tollkeeper_dashboard_v1_ListSettlementsRequest, _tollkeeper_dashboard_v1_ListSettlementsRequest__Output>
        ListSettlementsResponse: MessageTypeDefinition<_tollkeeper_dashboard_v1_ListSettlementsResponse, _tollkeeper_dashboard_v1_ListSettlementsResponse__Output>
        Settlement: MessageTypeDefinition<_tollkeeper_dashboard_v1_Settlement, _tollkeeper_dashboard_v1_Settlement__Output>
      }
    }
  }
}

