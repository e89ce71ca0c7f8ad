import type { Cause } from '@tollkeeper/contracts';
import { AppError, type Clock, type TenantId } from '@tollkeeper/kernel';
import type { Alert, AlertQuery, AlertStore, Delivery } from './alert.ts';
import { activeMutes, muteOf, type MuteStore } from './mute.ts';
import type { MutedBy } from './muted-by.ts';

export interface AlertWithDeliveries {
  alert: Alert;
  deliveries: Delivery[];
  /** What fits the alert now, if it is not resolved. */
  silencedBy: MutedBy | null;
}

/** What people can do with alerts. Every method rejects with `not_found` for an alert of another workspace. */
export interface AlertUseCases {
  /** Newest first. */
  list(tenantId: TenantId, query: AlertQuery): Promise<{ items: AlertWithDeliveries[]; total: number }>;
  get(tenantId: TenantId, alertId: string): Promise<AlertWithDeliveries>;
  /**
   * `firing → acknowledged`, by the user who asks; notifies the incident tools among the alert's channels.
   * Acknowledging again changes nothing. Rejects with `conflict` if resolved.
   */
  acknowledge(tenantId: TenantId, alertId: string, cause: Cause): Promise<AlertWithDeliveries>;
  /** `firing` or `acknowledged → resolved`; notifies the alert's channels. Resolving again changes nothing. */
  resolve(tenantId: TenantId, alertId: string, cause: Cause): Promise<AlertWithDeliveries>;
}

export interface AlertUseCaseDeps {
  store: AlertStore;
  mutes: Pick<MuteStore, 'read'>;
  clock: Clock;
  /** Called after a change was stored and its notifications wait to be sent. */
  onQueued: () => void;
}

export function createAlertUseCases({ store, mutes, clock, onQueued }: AlertUseCaseDeps): AlertUseCases {
  async function find(tenantId: TenantId, alertId: string): Promise<Alert> {
    const alert = await store.find(tenantId, alertId);
    if (alert === null) throw new AppError('not_found', 'This workspace has no alert with that alert_id.');
    return alert;
  }

  async function withDeliveries(tenantId: TenantId, alerts: readonly Alert[]): Promise<AlertWithDeliveries[]> {
    const ids = alerts.map(({ id }) => id);
    const [deliveries, known] = [await store.deliveries(tenantId, ids), await mutes.read(tenantId)];
    const active = activeMutes(known, clock());
    return alerts.map((alert) => {
      const mute = alert.status === 'resolved' ? null : muteOf(active, alert);
      return { alert, deliveries: deliveries.get(alert.id) ?? [], silencedBy: mute?.mutedBy() ?? null };
    });
  }

  async function detailed(alert: Alert): Promise<AlertWithDeliveries> {
    const [only] = await withDeliveries(alert.tenantId, [alert]);
    return only!;
  }

  return {
    async list(tenantId, query) {
      const { alerts, total } = await store.list(tenantId, query);
      return { items: await withDeliveries(tenantId, alerts), total };
    },

    get: async (tenantId, alertId) => detailed(await find(tenantId, alertId)),

    async acknowledge(tenantId, alertId, cause) {
      const acknowledged = await store.acknowledge(tenantId, alertId, cause, clock());
      if (acknowledged !== null) {
        onQueued();
        return detailed(acknowledged);
      }
      const alert = await find(tenantId, alertId);
      if (alert.status === 'resolved') {
        throw new AppError('conflict', 'The alert is resolved, so it cannot be acknowledged.');
      }
      return detailed(alert);
    },

    async resolve(tenantId, alertId, cause) {
      const resolved = await store.resolve(tenantId, alertId, cause, clock());
      if (resolved === null) return detailed(await find(tenantId, alertId));
      onQueued();
      return detailed(resolved);
    },
  };
}
