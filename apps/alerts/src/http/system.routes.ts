import { moment } from '@tollkeeper/contracts';
import { defineRoute, type Route } from '@tollkeeper/http';
import type { TenantId } from '@tollkeeper/kernel';
import type { LoopStatus } from '@tollkeeper/runtime';
import { z } from 'zod';
import { toTimestamp, toTimestampOrNull } from '../domain/alert.record.ts';
import { ALERTS_PATH } from './schemas.ts';

export interface SystemDeps {
  evaluator: LoopStatus;
  dispatcher: LoopStatus;
  countUndelivered: (tenantId: TenantId) => Promise<number>;
  countEnabledRules: (tenantId: TenantId) => Promise<number>;
  countChannels: (tenantId: TenantId) => Promise<number>;
  /** Epoch milliseconds; null if the events of the workspace are evaluated. */
  notEvaluatedSince: (tenantId: TenantId) => Promise<number | null>;
}

const systemStatus = z
  .object({
    EvaluatorEnabled: z.boolean(),
    DispatcherEnabled: z.boolean(),
    QueueSize: z.int().meta({ description: 'Notifications of the workspace that are not delivered yet' }),
    LastEvaluationTime: moment.meta({
      description: 'When the evaluator of this replica last completed a pass; it runs every second',
    }),
    LastDispatchTime: moment.meta({
      description: 'When the dispatcher of this replica last completed a pass; it runs every second',
    }),
    EnabledRules: z.int(),
    ConfiguredChannels: z.int(),
    NotEvaluatedSince: moment.nullable().meta({
      description:
        'Since when no rule of the workspace is evaluated because its rules do not fit into memory; null while ' +
        'they are. Disable rules with large thresholds or long windows, or ask the operator. Events of this period are not counted',
    }),
  })
  .meta({ id: 'AlertSystemStatus' });

/** The state of alerting for a workspace. */
export function createSystemRoutes(deps: SystemDeps): Route[] {
  const { evaluator, dispatcher, countUndelivered, countEnabledRules, countChannels, notEvaluatedSince } = deps;
  return [
    defineRoute({
      method: 'get',
      path: `${ALERTS_PATH}/system`,
      operationId: 'getAlertSystem',
      tag: 'Alerts',
      summary: 'Read the status of alerting',
      access: 'admin',
      responses: { 200: { description: 'The status', schema: systemStatus } },
      handler: async ({ caller: { tenantId } }) => {
        const [queueSize, enabledRules, channels, since] = await Promise.all([
          countUndelivered(tenantId),
          countEnabledRules(tenantId),
          countChannels(tenantId),
          notEvaluatedSince(tenantId),
        ]);
        const body = {
          EvaluatorEnabled: evaluator.running,
          DispatcherEnabled: dispatcher.running,
          QueueSize: queueSize,
          LastEvaluationTime: toTimestamp(evaluator.lastPassAt),
          LastDispatchTime: toTimestamp(dispatcher.lastPassAt),
          EnabledRules: enabledRules,
          ConfiguredChannels: channels,
          NotEvaluatedSince: toTimestampOrNull(since),
        };
        return { status: 200, body };
      },
    }),
  ];
}
