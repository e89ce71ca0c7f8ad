import type { Api } from '@tollkeeper/client';
import type { MaintenanceEntry } from '../files/document.ts';
import { matcherText, toMatcher } from '../matcher.ts';
import { type Kind, mergePatch } from './kind.ts';

/** Maintenance windows of alerts. */
export const maintenanceKind: Kind<MaintenanceEntry> = {
  section: 'maintenance_windows',
  keyField: 'name',
  async read({ api }) {
    const { items } = await api.call('GET /api/v1/alerts/maintenance-windows');
    return items.map(({ id, name, weekdays, start, end, time_zone, matchers, reason }) => ({
      ...{ key: name, id },
      value: { weekdays, start, end, time_zone, matchers: matchers.map(matcherText), reason },
    }));
  },
  desired: (_workspace, { name: _, ...rest }) => rest,
  exported: ({ key, value }) => ({ name: key, ...value }),
  async create({ api }, entry) {
    const { id } = await api.call('POST /api/v1/alerts/maintenance-windows', { body: bodyOf(entry) });
    return id;
  },
  update({ api }, { key, value, id: window_id }, entry) {
    const before = bodyOf({ ...(value as MaintenanceEntry), name: key });
    const body = mergePatch(before, bodyOf(entry));
    return api.call('PATCH /api/v1/alerts/maintenance-windows/{window_id}', { path: { window_id }, body });
  },
  remove: ({ api }, { id: window_id }) =>
    api.call('DELETE /api/v1/alerts/maintenance-windows/{window_id}', { path: { window_id } }),
};

function bodyOf({ matchers, ...entry }: MaintenanceEntry): Api.MaintenanceWindowInput {
  return { ...entry, matchers: matchers.map(toMatcher) };
}
