import type * as grpc from '@grpc/grpc-js';
import type { MessageTypeDefinition } from '@grpc/proto-loader';

import type { AgentBudget as _tollkeeper_budgets_v1_AgentBudget, AgentBudget__Output as _tollkeeper_budgets_v1_AgentBudget__Output } from './tollkeeper/budgets/v1/AgentBudget.ts';
import type { Budget as _tollkeeper_budgets_v1_Budget, Budget__Output as _tollkeeper_budgets_v1_Budget__Output } from './tollkeeper/budgets/v1/Budget.ts';
import type { BudgetPeriod as _tollkeeper_budgets_v1_BudgetPeriod, BudgetPeriod__Output as _tollkeeper_budgets_v1_BudgetPeriod__Output } from './tollkeeper/budgets/v1/BudgetPeriod.ts';
import type { BudgetSelector as _tollkeeper_budgets_v1_BudgetSelector, BudgetSelector__Output as _tollkeeper_budgets_v1_BudgetSelector__Output } from './tollkeeper/budgets/v1/BudgetSelector.ts';
import type { BudgetsServiceClient as _tollkeeper_budgets_v1_BudgetsServiceClient, BudgetsServiceDefinition as _tollkeeper_budgets_v1_BudgetsServiceDefinition } from './tollkeeper/budgets/v1/BudgetsService.ts';
import type { GetBudgetsRequest as _tollkeeper_budgets_v1_GetBudgetsRequest, GetBudgetsRequest__Output as _tollkeeper_budgets_v1_GetBudgetsRequest__Output } from './tollkeeper/budgets/v1/GetBudgetsRequest.ts';
import type { GetBudgetsResponse as _tollkeeper_budgets_v1_GetBudgetsResponse, GetBudgetsResponse__Output as _tollkeeper_budgets_v1_GetBudgetsResponse__Output } from './tollkeeper/budgets/v1/GetBudgetsResponse.ts';
import type { GrantedRaise as _tollkeeper_budgets_v1_GrantedRaise, GrantedRaise__Output as _tollkeeper_budgets_v1_GrantedRaise__Output } from './tollkeeper/budgets/v1/GrantedRaise.ts';
import type { ListActiveBudgetsRequest as _tollkeeper_budgets_v1_ListActiveBudgetsRequest, ListActiveBudgetsRequest__Output as _tollkeeper_budgets_v1_ListActiveBudgetsRequest__Output } from './tollkeeper/budgets/v1/ListActiveBudgetsRequest.ts';
import type { ListActiveBudgetsResponse as _tollkeeper_budgets_v1_ListActiveBudgetsResponse, ListActiveBudgetsResponse__Output as _tollkeeper_budgets_v1_ListActiveBudgetsResponse__Output } from './tollkeeper/budgets/v1/ListActiveBudgetsResponse.ts';
import type { ListBudgetsRequest as _tollkeeper_budgets_v1_ListBudgetsRequest, ListBudgetsRequest__Output as _tollkeeper_budgets_v1_ListBudgetsRequest__Output } from './tollkeeper/budgets/v1/ListBudgetsRequest.ts';
import type { ListBudgetsResponse as _tollkeeper_budgets_v1_ListBudgetsResponse, ListBudgetsResponse__Output as _tollkeeper_budgets_v1_ListBudgetsResponse__Output } from './tollkeeper/budgets/v1/ListBudgetsResponse.ts';
import type { ListGrantedRaisesRequest as _tollkeeper_budgets_v1_ListGrantedRaisesRequest, ListGrantedRaisesRequest__Output as _tollkeeper_budgets_v1_ListGrantedRaisesRequest__Output } from './tollkeeper/budgets/v1/ListGrantedRaisesRequest.ts';
import type { ListGrantedRaisesResponse as _tollkeeper_budgets_v1_ListGrantedRaisesResponse, ListGrantedRaisesResponse__Output as _tollkeeper_budgets_v1_ListGrantedRaisesResponse__Output } from './tollkeeper/budgets/v1/ListGrantedRaisesResponse.ts';
import type { ListPricesRequest as _tollkeeper_budgets_v1_ListPricesRequest, ListPricesRequest__Output as _tollkeeper_budgets_v1_ListPricesRequest__Output } from './tollkeeper/budgets/v1/ListPricesRequest.ts';
import type { ListPricesResponse as _tollkeeper_budgets_v1_ListPricesResponse, ListPricesResponse__Output as _tollkeeper_budgets_v1_ListPricesResponse__Output } from './tollkeeper/budgets/v1/ListPricesResponse.ts';
import type { Pause as _tollkeeper_budgets_v1_Pause, Pause__Output as _tollkeeper_budgets_v1_Pause__Output } from './tollkeeper/budgets/v1/Pause.ts';
import type { PlanBudget as _tollkeeper_budgets_v1_PlanBudget, PlanBudget__Output as _tollkeeper_budgets_v1_PlanBudget__Output } from './tollkeeper/budgets/v1/PlanBudget.ts';
import type { Price as _tollkeeper_budgets_v1_Price, Price__Output as _tollkeeper_budgets_v1_Price__Output } from './tollkeeper/budgets/v1/Price.ts';
import type { Raise as _tollkeeper_budgets_v1_Raise, Raise__Output as _tollkeeper_budgets_v1_Raise__Output } from './tollkeeper/budgets/v1/Raise.ts';
import type { RequestRaiseRequest as _tollkeeper_budgets_v1_RequestRaiseRequest, RequestRaiseRequest__Output as _tollkeeper_budgets_v1_RequestRaiseRequest__Output } from './tollkeeper/budgets/v1/RequestRaiseRequest.ts';
import type { RequestRaiseResponse as _tollkeeper_budgets_v1_RequestRaiseResponse, RequestRaiseResponse__Output as _tollkeeper_budgets_v1_RequestRaiseResponse__Output } from './tollkeeper/budgets/v1/RequestRaiseResponse.ts';

type SubtypeConstructor<Constructor extends new (...args: any) => any, Subtype> = {
  new(...args: ConstructorParameters<Constructor>): Subtype;
};

export interface ProtoGrpcType {
  tollkeeper: {
    budgets: {
      v1: {
        AgentBudget: MessageTypeDefinition<_tollkeeper_budgets_v1_AgentBudget, _tollkeeper_budgets_v1_AgentBudget__Output>
        Budget: MessageTypeDefinition<_tollkeeper_budgets_v1_Budget, _tollkeeper_budgets_v1_Budget__Output>
        BudgetPeriod: MessageTypeDefinition<_tollkeeper_budgets_v1_BudgetPeriod, _tollkeeper_budgets_v1_BudgetPeriod__Output>
        BudgetSelector: MessageTypeDefinition<_tollkeeper_budgets_v1_BudgetSelector, _tollkeeper_budgets_v1_BudgetSelector__Output>
        /**
         * The read side of the budgets and prices that owners set.
         */
        BudgetsService: SubtypeConstructor<typeof grpc.Client, _tollkeeper_budgets_v1_BudgetsServiceClient> & { service: _tollkeeper_budgets_v1_BudgetsServiceDefinition }
        GetBudgetsRequest: MessageTypeDefinition<_tollkeeper_budgets_v1_GetBudgetsRequest, _tollkeeper_budgets_v1_GetBudgetsRequest__Output>
        GetBudgetsResponse: MessageTypeDefinition<_tollkeeper_budgets_v1_GetBudgetsResponse, _tollkeeper_budgets_v1_GetBudgetsResponse__Output>
        GrantedRaise: MessageTypeDefinition<_tollkeeper_budgets_v1_GrantedRaise, _tollkeeper_budgets_v1_GrantedRaise__Output>
        ListActiveBudgetsRequest: MessageTypeDefinition<_tollkeeper_budgets_v1_ListActiveBudgetsRequest, _tollkeeper_budgets_v1_ListActiveBudgetsRequest__Output>
        ListActiveBudgetsResponse: MessageTypeDefinition<_tollkeeper_budgets_v1_ListActiveBudgetsResponse, _tollkeeper_budgets_v1_ListActiveBudgetsResponse__Output>
        ListBudgetsRequest: MessageTypeDefinition<_tollkeeper_budgets_v1_ListBudgetsRequest, _tollkeeper_budgets_v1_ListBudgetsRequest__Output>
        ListBudgetsResponse: MessageTypeDefinition<_tollkeeper_budgets_v1_ListBudgetsResponse, _tollkeeper_budgets_v1_ListBudgetsResponse__Output>
        ListGrantedRaisesRequest: MessageTypeDefinition<_tollkeeper_budgets_v1_ListGrantedRaisesRequest, _tollkeeper_budgets_v1_ListGrantedRaisesRequest__Output>
        ListGrantedRaisesResponse: MessageTypeDefinition<_tollkeeper_budgets_v1_ListGrantedRaisesResponse, _tollkeeper_budgets_v1_ListGrantedRaisesResponse__Output>
        ListPricesRequest: MessageTypeDefinition<_tollkeeper_budgets_v1_ListPricesRequest, _tollkeeper_budgets_v1_ListPricesRequest__Output>
        ListPricesResponse: MessageTypeDefinition<_tollkeeper_budgets_v1_ListPricesResponse, _tollkeeper_budgets_v1_ListPricesResponse__Output>
        Pause: MessageTypeDefinition<_tollkeeper_budgets_v1_Pause, _tollkeeper_budgets_v1_Pause__Output>
        PlanBudget: MessageTypeDefinition<_tollkeeper_budgets_v1_PlanBudget, _tollkeeper_budgets_v1_PlanBudget__Output>
        Price: MessageTypeDefinition<_tollkeeper_budgets_v1_Price, _tollkeeper_budgets_v1_Price__Output>
        Raise: MessageTypeDefinition<_tollkeeper_budgets_v1_Raise, _tollkeeper_budgets_v1_Raise__Output>
        RequestRaiseRequest: MessageTypeDefinition<_tollkeeper_budgets_v1_RequestRaiseRequest, _tollkeeper_budgets_v1_RequestRaiseRequest__Output>
        RequestRaiseResponse: MessageTypeDefinition<_tollkeeper_budgets_v1_RequestRaiseResponse, _tollkeeper_budgets_v1_RequestRaiseResponse__Output>
      }
    }
  }
}

